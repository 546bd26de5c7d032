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
 * and {@value #UNCONFIRMED} for confirms; a slower Redis or broker so slows the writer down instead
 * of piling up. Owned by one {@link QueueIntake}, whose writer is the only one to hand in work.
 */
final class SettlingThread {

  private static final Logger log = LoggerFactory.getLogger(SettlingThread.class);

  private static final int WAITING = 1;
  private static final int UNCONFIRMED = 4;
  private static final long POLL_MS = 100;

  private final Settler settler;
  private final IntakeProgress progress;
  private final Thread thread;
  private final BlockingQueue<Settler.Work> waiting = new ArrayBlockingQueue<>(WAITING);
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

  /** Waits while the settler is behind. */
  void settle(Settler.Work work) throws InterruptedException {
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
   * Waits until everything handed in is settled or given up.
   *
   * @return false when that took too long
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

  /** Ends the thread; what it has not settled comes again from the broker. */
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
      Settler.Work work = next();
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

  /** Does not wait while there are confirms to wait for instead. */
  private Settler.@Nullable Work next() {
    try {
      return announced.isEmpty() ? waiting.poll(POLL_MS, TimeUnit.MILLISECONDS) : waiting.poll();
    } catch (InterruptedException e) {
      return null; // only stop() interrupts, and the loop looks
    }
  }

  private void announce(Settler.Work work) {
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

  /** A session that fails is closed: the broker brings back what it had, to be settled then. */
  private void finish(Settler.Announced batch) {
    try {
      settler.finish(batch);
    } catch (IOException | ShutdownSignalException e) {
      log.warn("Acks did not reach the broker, the orders will come again: {}", e.toString());
      batch.session().close();
    } catch (InterruptedException e) {
      batch.session().close();
    } catch (Throwable e) {
      defect(batch.session(), e);
    } finally {
      finishedOne();
    }
  }

  /** An Error, too, costs the session and no more. */
  private void defect(IntakeSession session, Throwable defect) {
    progress.failed(defect);
    log.error("A defect keeps orders from being settled; they will come again", defect);
    session.close();
  }

  private void finishedOne() {
    synchronized (idle) {
      unfinished--;
      idle.notifyAll();
    }
  }
}
