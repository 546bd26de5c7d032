package io.seckill.consumer.fallback;

/**
 * What of a sale's stock is kept for orders that Redis may have promised and MySQL has not seen.
 *
 * @param admitted most units that anybody was told Redis had admitted in this epoch
 * @param decided units of all orders in MySQL
 * @param unsold in Redis, as far as known
 * @param percent of what was unsold, 0 when every gateway has told all that it promised
 * @param stock of MySQL
 */
record Reserve(long admitted, long decided, long unsold, int percent, long stock) {

  private static final long WHOLE = 100;

  long units() {
    long known = Math.max(0, admitted - decided);
    long unknown = (unsold * percent + WHOLE - 1) / WHOLE;
    return Math.min(stock, known + unknown);
  }

  /** Whether orders that nobody knows may need all stock, and so also units that are returned. */
  boolean isAll() {
    return percent > 0 && units() == stock;
  }
}
