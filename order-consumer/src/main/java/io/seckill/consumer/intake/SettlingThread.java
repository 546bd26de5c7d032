package io.seckill.consumer.intake;

import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles batches while the writer stores the next. At most {@value #WAITING} waits for this thread
 * and {@value #UNCONFIRMED} for confirms, so a slow Redis or broker slows the writer down instead
 * of building up a backlog. Owned by one {@link QueueIntake}; only its writer submits work.
 */
final class SettlingThread {

  private static final Logger log = LoggerFactory.getLogger(SettlingThread.class);

  private static final int WAITING = 1;
  private static final int UNCONFIRMED = 4;

  /** A stop interrupts the wait. */
  private static final long POLL_S = 10;

  private final Settler settler;
  private final IntakeProgress progress;
  private final Thread thread;
  private final BlockingQueue<Settler.StoredDeliveries> waiting = new ArrayBlockingQueue<>(WAITING);
  private final Deque<Settler.Announced> announced = new ArrayDeque<>();
  private final Object idle = new Object();
  private int unfinished;
  private volatile boolean stopping;

  SettlingThread(String name, Settler settler, IntakeProgress progress) {
    this.settler = settler;
    this.progress = progress;
    this.thread = new Thread(this::run, name);
  }

  void start() {
    thread.start();
  }

  /** Submits a batch; blocks while this thread is behind. */
  void settle(Settler.StoredDeliveries work) throws InterruptedException {
    synchronized (idle) {
      unfinished++;
    }
    try {
      waiting.put(work);
    } catch (InterruptedException e) {
      finishedOne();
      throw e;
    }
  }

  /**
   * Waits until everything submitted is settled or given up. Returns false when that took too long.
   */
  boolean awaitIdle(Duration atMost) throws InterruptedException {
    long deadline = System.nanoTime() + atMost.toNanos();
    synchronized (idle) {
      while (unfinished > 0) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (leftMs <= 0) {
          return false;
        }
        idle.wait(leftMs);
      }
      return true;
    }
  }

  /** Ends the thread; the broker redelivers what it has not settled. */
  void stop(Duration atMost) {
    stopping = true;
    thread.interrupt();
    try {
      thread.join(Math.max(1, atMost.toMillis()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!stopping) {
      Settler.StoredDeliveries work = next();
      if (work != null) {
        announce(work);
      } else if (!announced.isEmpty()) {
        finish(announced.remove());
      }
      while (!announced.isEmpty()
          && (announced.size() > UNCONFIRMED || announced.element().isAnswered())) {
        finish(announced.remove());
      }
    }
  }

  /** Does not block while batches wait for confirms. */
  private Settler.@Nullable StoredDeliveries next() {
    try {
      return announced.isEmpty() ? waiting.poll(POLL_S, TimeUnit.SECONDS) : waiting.poll();
    } catch (InterruptedException e) {
      return null; // only stop() interrupts, and the loop checks for it
    }
  }

  private void announce(Settler.StoredDeliveries work) {
    try {
      announced.add(settler.announce(work));
    } catch (Throwable e) {
      try {
        defect(work.session(), e);
      } finally {
        finishedOne();
      }
    }
  }

  /** Closes a session that fails: the broker redelivers its deliveries, to be settled then. */
  private void finish(Settler.Announced batch) {
    try {
      settler.finish(batch);
    } catch (IOException | ShutdownSignalException e) {
      log.warn("Acks did not reach the broker, it will redeliver the orders: {}", e.toString());
      batch.session().close();
    } catch (InterruptedException e) {
      batch.session().close();
    } catch (Throwable e) {
      defect(batch.session(), e);
    } finally {
      finishedOne();
    }
  }

  /** An Error, too, ends only the session. */
  private void defect(IntakeSession session, Throwable defect) {
    progress.failed(defect);
    log.error("A defect keeps orders from being settled; they will be redelivered", defect);
    session.close();
  }

  private void finishedOne() {
    synchronized (idle) {
      unfinished--;
      idle.notifyAll();
    }
  }
}
