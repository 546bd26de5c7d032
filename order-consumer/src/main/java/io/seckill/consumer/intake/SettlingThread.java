package io.seckill.consumer.intake;

import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles one batch while the writer stores the next. At most {@value #WAITING} batches wait; a
 * slower Redis or broker so slows the writer down instead of piling up. Owned by one {@link
 * QueueIntake}, whose writer is the only one to hand in work.
 */
final class SettlingThread {

  private static final Logger log = LoggerFactory.getLogger(SettlingThread.class);

  private static final int WAITING = 1;
  private static final long POLL_MS = 100;

  private final Settler settler;
  private final Thread thread;
  private final BlockingQueue<Settler.Work> waiting = new ArrayBlockingQueue<>(WAITING);
  private final Object idle = new Object();
  private int unfinished;
  private volatile boolean stopping;

  SettlingThread(String name, Settler settler) {
    this.settler = settler;
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
        settleSafely(work);
        finishedOne();
      }
    }
  }

  private Settler.@Nullable Work next() {
    try {
      return waiting.poll(POLL_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return null; // only stop() interrupts, and the loop looks
    }
  }

  /** A session that fails is closed: the broker brings back what it had, to be settled then. */
  private void settleSafely(Settler.Work work) {
    try {
      settler.settle(work);
    } catch (IOException | ShutdownSignalException e) {
      log.warn("Acks did not reach the broker, the orders will come again: {}", e.toString());
      work.session().close();
    } catch (InterruptedException e) {
      work.session().close();
    } catch (RuntimeException e) {
      log.error("A defect keeps orders from being settled; they will come again", e);
      work.session().close();
    }
  }

  private void finishedOne() {
    synchronized (idle) {
      unfinished--;
      idle.notifyAll();
    }
  }
}
