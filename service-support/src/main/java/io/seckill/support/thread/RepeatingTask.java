package io.seckill.support.thread;

import java.time.Duration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Repeats a task on a daemon thread of its own; a round that throws does not end it ({@link
 * LoggedRounds}).
 */
public final class RepeatingTask implements AutoCloseable {

  private static final Duration LONGEST_STOP = Duration.ofSeconds(2);

  private final ThreadPoolTaskScheduler thread = new ThreadPoolTaskScheduler();
  private final Runnable task;

  /**
   * Starts the first round at once.
   *
   * @param name begins the thread's name; also for the log
   * @param pause from the end of a round to the start of the next
   */
  public RepeatingTask(String name, Duration pause, Runnable task) {
    this.task = new LoggedRounds(name, task);
    thread.setThreadNamePrefix(name + '-');
    thread.setDaemon(true);
    thread.setAwaitTerminationMillis(LONGEST_STOP.toMillis());
    thread.initialize();
    var unused = thread.scheduleWithFixedDelay(this.task, pause);
  }

  /** Runs one more round without the pause, after the one in progress. */
  public void runSoon() {
    if (!thread.getScheduledThreadPoolExecutor().isShutdown()) {
      thread.execute(task);
    }
  }

  /** Interrupts a round in progress, and waits for its end for at most two seconds. */
  @Override
  public void close() {
    thread.shutdown();
  }
}
