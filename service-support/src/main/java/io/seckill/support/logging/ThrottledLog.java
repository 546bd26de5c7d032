package io.seckill.support.logging;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Logs failures that repeat with each request or attempt, as while a server is away: of each class
 * of exceptions, or text, one line a minute, which also says how many were left out. Otherwise
 * shoppers who retry could fill a disk. Thread-safe.
 */
public final class ThrottledLog {

  static final Duration INTERVAL = Duration.ofMinutes(1);

  private final Logger log;
  private final LongSupplier nanoTime;
  private final Map<Object, Lines> lines = new ConcurrentHashMap<>();

  public ThrottledLog(Logger log) {
    this(log, System::nanoTime);
  }

  ThrottledLog(Logger log, LongSupplier nanoTime) {
    this.log = log;
    this.nanoTime = nanoTime;
  }

  /** The lines of one class of exceptions, or of one text. */
  private static final class Lines {
    private long nextNanos;
    private long leftOut;

    Lines(long nowNanos) {
      nextNanos = nowNanos;
    }

    /** Returns how many failures were left out before this line, or -1 if it is left out, too. */
    synchronized long next(long nowNanos) {
      if (nowNanos - nextNanos < 0) {
        leftOut++;
        return -1;
      }
      nextNanos = nowNanos + INTERVAL.toNanos();
      long before = leftOut;
      leftOut = 0;
      return before;
    }
  }

  /**
   * @param what failed, the beginning of the line
   */
  public void warn(String what, Throwable failure) {
    long leftOut = leftOut(failure.getClass());
    if (leftOut >= 0) {
      log.warn("{}: {}{}", what, failure.toString(), others(leftOut));
    }
  }

  /**
   * @param failure the whole line, one of a few constants
   */
  public void warn(String failure) {
    long leftOut = leftOut(failure);
    if (leftOut >= 0) {
      log.warn("{}{}", failure, others(leftOut));
    }
  }

  private long leftOut(Object kind) {
    long now = nanoTime.getAsLong();
    return lines.computeIfAbsent(kind, first -> new Lines(now)).next(now);
  }

  private static String others(long leftOut) {
    return leftOut == 0 ? "" : "; " + leftOut + " such failures were not logged";
  }
}
