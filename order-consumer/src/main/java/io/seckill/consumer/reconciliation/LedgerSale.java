package io.seckill.consumer.reconciliation;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.LoadSettings;
import io.seckill.common.sale.SaleToLoad;
import java.time.Instant;

/**
 * A row of {@code products}.
 *
 * @param state NEW, PREHEATED, OPEN, PAUSED or CLOSED
 * @param stateVersion number of changes of the state so far
 * @param loading as the last preheat did it
 */
record LedgerSale(
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
    LoadSettings loading) {

  /** Whether Redis has to have it: a closed sale is shown from MySQL. */
  boolean isWanted() {
    return state.equals("PREHEATED") || isRunning();
  }

  boolean isRunning() {
    return state.equals("OPEN") || state.equals("PAUSED");
  }

  /** Whether nobody has preheated, rebuilt or moved the sale between the two. */
  boolean isSameLifeAs(LedgerSale other) {
    return epoch == other.epoch && state.equals(other.state);
  }

  SaleToLoad toLoad(long shelf) {
    return new SaleToLoad(
        skuId, policy, limitPerUser, opensAt, closesAt, epoch, shelf, initialStock, lastSeq);
  }
}
