package io.seckill.consumer.consistency;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.LoadSettings;
import io.seckill.common.sale.SaleToLoad;
import java.time.Instant;

/**
 * A row of {@code products}.
 *
 * @param state NEW, PREHEATED, OPEN, PAUSED or CLOSED
 * @param stateVersion number of changes of the state so far
 * @param ended whether the closing time has passed, by MySQL's clock
 * @param loading settings of the last preheat
 */
record ProductSnapshot(
    long skuId,
    String state,
    long stateVersion,
    PurchasePolicy policy,
    int limitPerUser,
    Instant opensAt,
    Instant closesAt,
    long epoch,
    long stock,
    long initialStock,
    long lastSeq,
    long settled,
    boolean ended,
    LoadSettings loading) {

  /**
   * Whether Redis must have the sale. A closed sale is shown from MySQL, and so is a sale past its
   * closing time that was not closed: nothing is admitted then, and Redis lets its rules expire.
   */
  boolean isWanted() {
    return !ended && (state.equals("PREHEATED") || isRunning());
  }

  boolean isRunning() {
    return state.equals("OPEN") || state.equals("PAUSED");
  }

  /** Whether the sale was not preheated, rebuilt or closed between the two. */
  boolean isSameLifeAs(ProductSnapshot other) {
    return epoch == other.epoch && other.isWanted();
  }

  SaleToLoad toLoad(long stockOnSale) {
    return new SaleToLoad(
        skuId, policy, limitPerUser, opensAt, closesAt, epoch, stockOnSale, initialStock, lastSeq);
  }
}
