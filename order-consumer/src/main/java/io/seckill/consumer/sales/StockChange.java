package io.seckill.consumer.sales;

/**
 * A row of {@code stock_change}.
 *
 * @param delta units, positive adds, negative withdraws, never 0
 * @param epoch of the sale whose stock in Redis the change is for
 */
record StockChange(long skuId, String changeId, long delta, long epoch, ChangeState state) {

  boolean isAddition() {
    return delta > 0;
  }
}
