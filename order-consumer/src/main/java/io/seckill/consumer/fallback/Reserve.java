package io.seckill.consumer.fallback;

/**
 * Units of a sale's stock kept for orders that Redis may have promised and MySQL does not have.
 *
 * @param isAll whether unknown orders may need all stock, and so also units that are returned
 */
record Reserve(long units, boolean isAll) {

  /**
   * @param admitted most units that Redis had reported as admitted in this epoch
   * @param decided units of all orders in MySQL but those that Redis had lost before this epoch
   * @param isWhole whether all gateways have transferred all that they promised; otherwise Redis
   *     may have promised all that MySQL has not sold
   */
  static Reserve of(long admitted, long decided, boolean isWhole, long stock) {
    return isWhole
        ? new Reserve(Math.min(stock, Math.max(0, admitted - decided)), false)
        : new Reserve(stock, true);
  }
}
