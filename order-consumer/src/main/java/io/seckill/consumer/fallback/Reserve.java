package io.seckill.consumer.fallback;

import io.seckill.consumer.fallback.RedisLooks.Look;
import java.util.Optional;

/**
 * What of a sale's stock is kept for orders that Redis may have promised and MySQL has not seen.
 *
 * @param admitted most units that Redis had reported as admitted in this epoch
 * @param decided units of all orders in MySQL
 * @param unsold in Redis, as far as known
 * @param percent of what was unsold, 0 when every gateway has transferred all that it promised
 * @param stock of MySQL
 */
record Reserve(long admitted, long decided, long unsold, int percent, long stock) {

  private static final long WHOLE = 100;

  /**
   * A look of any age says how much was admitted at least, but only one as old as the fallback what
   * was unsold; without one, all stock may have been.
   *
   * @param look at the epoch of Redis
   * @param switchNanos System.nanoTime() when the fallback began
   * @param told most units that gateways and earlier looks know to be admitted
   */
  static Reserve of(
      Optional<Look> look, long switchNanos, long told, long decided, int percent, long stock) {
    return new Reserve(
        Math.max(told, look.map(Look::admittedUnits).orElse(0L)),
        decided,
        look.filter(seen -> seen.isAsOf(switchNanos)).map(Look::stock).orElse(stock),
        percent,
        stock);
  }

  long units() {
    long known = Math.max(0, admitted - decided);
    long unknown = (unsold * percent + WHOLE - 1) / WHOLE;
    return Math.min(stock, known + unknown);
  }

  /** Whether unknown orders may need all stock, and so also units that are returned. */
  boolean isAll() {
    return percent > 0 && units() == stock;
  }
}
