package io.seckill.consumer.runtime;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One task that {@link Sweepers} repeats with a pause in between. A failing round is logged and the
 * next one runs; a stop interrupts the round. The task must be harmless when another process runs
 * it at the same time, and when it is interrupted.
 */
public final class Sweeper {

  private static final Logger log = LoggerFactory.getLogger(Sweeper.class);

  private final String name;
  private final Duration pause;
  private final Runnable work;
  private boolean unavailable; // a store that the work needs is unavailable

  /**
   * @param name for the log
   * @param pause from the end of a round to the start of the next, also before the first
   */
  public Sweeper(String name, Duration pause, Runnable work) {
    this.name = name;
    this.pause = pause;
    this.work = work;
  }

  Duration pause() {
    return pause;
  }

  void round() {
    try {
      work.run();
      if (unavailable) {
        log.info("{} works again", name);
      }
      unavailable = false;
    } catch (DataAccessException | TransactionException | JedisException e) {
      if (!unavailable) {
        log.warn("{} cannot use MySQL or Redis now, and keeps retrying: {}", name, e.toString());
      }
      unavailable = true;
    } catch (RuntimeException | Error e) {
      log.error("A round of {} failed", name, e);
    }
  }
}
