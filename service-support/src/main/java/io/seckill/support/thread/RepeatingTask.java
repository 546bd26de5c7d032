package io.seckill.support.thread;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Repeats a task on a daemon thread of its own; a round that throws does not end it ({@link
 * LoggedRounds}).
 */
public final class RepeatingTask implements AutoCloseable {

  private static final long LONGEST_STOP_MS = 2_000;

  private final Runnable task;
  private final Supplier<Duration> pause;
  private final Semaphore soon = new Semaphore(0);
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Starts the first round at once.
   *
   * @param name of the thread; also for the log
   * @param pause from the end of a round to the start of the next
   */
  public RepeatingTask(String name, Duration pause, Runnable task) {
    this(name, () -> pause, task);
  }

  /**
   * Starts the first round at once.
   *
   * @param name of the thread; also for the log
   * @param pause from the end of a round to the start of the next; asked on the task's thread after
   *     each round, and must not throw
   */
  public RepeatingTask(String name, Supplier<Duration> pause, Runnable task) {
    this.task = new LoggedRounds(name, task);
    this.pause = pause;
    this.thread = DaemonThreads.named(name).newThread(this::run);
    thread.start();
  }

  private void run() {
    while (!closed) {
      task.run();
      rest();
    }
  }

  private void rest() {
    try {
      boolean unused = soon.tryAcquire(pause.get().toNanos(), TimeUnit.NANOSECONDS);
      soon.drainPermits(); // one round is enough for all
    } catch (InterruptedException e) {
      // only close() interrupts, and the loop ends then
    }
  }

  /** Runs one more round without the pause, after the one in progress. */
  public void runSoon() {
    soon.release();
  }

  /** Interrupts a round in progress, and waits for its end for at most two seconds. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    soon.release(); // for a round that swallows the interrupt
    try {
      thread.join(LONGEST_STOP_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
