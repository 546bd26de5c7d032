package io.seckill.consumer.sweep;

import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One named thread that repeats one task with a pause in between. A failing round is logged and the
 * next one runs; a stop interrupts the round. The task must be harmless when another process runs
 * it at the same time, and when it is interrupted.
 *
 * <p>At the end of the process, when the intake has stopped, all sweepers are asked to stop at
 * once, and waited for together, at most {@link #LONGEST_STOP}.
 */
public final class Sweeper implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Sweeper.class);

  /** Stopped after the intake, which is in the last phase. */
  static final int PHASE = DEFAULT_PHASE - 1;

  static final Duration LONGEST_STOP = Duration.ofSeconds(3);

  private final String name;
  private final Duration pause;
  private final Runnable work;
  private volatile @Nullable Rounds rounds;
  private volatile boolean away; // a store that the work needs is unavailable

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
  public int getPhase() {
    return PHASE;
  }

  @Override
  public void start() {
    Rounds started = new Rounds(name);
    rounds = started;
    var unused =
        started.scheduleWithFixedDelay(
            this::round, pause.toMillis(), pause.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void round() {
    try {
      work.run();
      if (away) {
        log.info("{} works again", name);
      }
      away = false;
    } catch (DataAccessException | TransactionException | JedisException e) {
      if (!away) {
        log.warn("{} cannot use MySQL or Redis now, and keeps retrying: {}", name, e.toString());
      }
      away = true;
    } catch (RuntimeException | Error e) {
      // An exception thrown to the executor would end all further rounds without a log line.
      log.error("A round of {} failed", name, e);
    }
  }

  /** Requests the end, without waiting for it. */
  @Override
  public void stop() {
    stop(() -> {});
  }

  /**
   * Requests the end, without waiting for it.
   *
   * @param ended is run when the thread has ended
   */
  @Override
  public void stop(Runnable ended) {
    Rounds stopping = rounds;
    rounds = null;
    if (stopping == null) {
      ended.run();
    } else {
      stopping.end(ended);
    }
  }

  @Override
  public boolean isRunning() {
    return rounds != null;
  }

  /** The thread; runs a callback when it has ended. */
  private static final class Rounds extends ScheduledThreadPoolExecutor {

    private volatile Runnable ended = () -> {};

    Rounds(String name) {
      super(1, round -> new Thread(round, name));
    }

    void end(Runnable ended) {
      this.ended = ended;
      shutdownNow();
    }

    @Override
    protected void terminated() {
      ended.run();
    }
  }
}
