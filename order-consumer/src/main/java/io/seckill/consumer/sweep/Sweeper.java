package io.seckill.consumer.sweep;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One named thread that repeats one piece of work with a pause between. A failing round is logged
 * and the next one comes; a stop interrupts the round and waits for its end. The work must be
 * harmless when another process does it at the same time.
 */
public final class Sweeper implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Sweeper.class);
  private static final Duration LONGEST_STOP = Duration.ofSeconds(15);

  private final String name;
  private final Duration pause;
  private final Runnable work;
  private volatile @Nullable ScheduledExecutorService thread;

  /**
   * @param name of the thread
   * @param pause from the end of a round to the start of the next, also before the first
   */
  public Sweeper(String name, Duration pause, Runnable work) {
    this.name = name;
    this.pause = pause;
    this.work = work;
  }

  @Override
  public void start() {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(round -> new Thread(round, name));
    thread = started;
    var unused =
        started.scheduleWithFixedDelay(
            this::round, pause.toMillis(), pause.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void round() {
    try {
      work.run();
    } catch (DataAccessException | TransactionException | JedisException e) {
      log.warn("{} cannot work now: {}", name, e.toString());
    } catch (RuntimeException e) {
      log.error("A round of {} failed", name, e);
    }
  }

  @Override
  public void stop() {
    ExecutorService stopping = thread;
    if (stopping == null) {
      return;
    }
    stopping.shutdownNow();
    try {
      if (!stopping.awaitTermination(LONGEST_STOP.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("{} did not stop in time", name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread = null;
  }

  @Override
  public boolean isRunning() {
    return thread != null;
  }
}
