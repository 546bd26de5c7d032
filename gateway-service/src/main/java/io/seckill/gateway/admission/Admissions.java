package io.seckill.gateway.admission;

import io.seckill.common.sale.Decider;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.verification.VerifiedServers;
import java.util.function.Consumer;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Entry point for purchases. Those of strong sales go to order-consumer in batches, also while
 * Redis is unavailable. Of the others, purchases of an unverified partition or a quarantined SKU,
 * and those stopped by the open breaker, are answered at once; so are those without a key from the
 * shopper that the sold-out shield covers. The rest goes to Redis in batches. Never blocks.
 *
 * <p>The store that decides a sale is that of the last read of all products, a second ago. A strong
 * sale that is younger is an unknown SKU to Redis; see {@link LateOutcomes}.
 */
@Component
record Admissions(
    ProductCache products,
    Promises promises,
    VerifiedServers servers,
    RedisBreaker breaker,
    SoldOutShield shield,
    AdmissionMetrics metrics,
    @Qualifier("admitQueue") RequestBatcher<Purchase> admit,
    @Qualifier("strongQueue") RequestBatcher<Purchase> strong) {

  /**
   * Decides on one attempt.
   *
   * @param answer called by this thread or another, within seckill.admission.answer-within; once,
   *     unless {@link ShardedPurchases#untilProven} sends the attempt again
   * @param ofStrong called in its place when MySQL alone decides
   * @return whether the purchase is of a strong sale
   */
  boolean submit(
      PurchaseAttempt attempt, Consumer<Admission> answer, Consumer<Admission> ofStrong) {
    Decider decides = products.decides(attempt.skuId());
    Purchase purchase = new Purchase(attempt, decides == Decider.MYSQL ? ofStrong : answer);
    if (decides == null) {
      purchase.answer(Unknown.PRODUCTS);
    } else if (decides == Decider.MYSQL) {
      purchase.waitsFor(Unknown.CONSUMER);
      strong.submit(purchase);
    } else if (!promises.mayConfirm(attempt.skuId())) { // would only wait, and then not be sent
      purchase.answer(Unknown.FALLBACK);
    } else if (servers.replicationId(attempt.partition()) == null) {
      purchase.answer(Unknown.UNVERIFIED);
    } else if (servers.isQuarantined(attempt.skuId())) {
      purchase.answer(Unknown.QUARANTINED);
    } else if (breaker.isOpen(attempt.partition())) {
      purchase.answer(Unknown.BREAKER);
    } else if (!attempt.keyFromShopper() && shield.covers(attempt.skuId())) {
      metrics.shieldHit();
      purchase.answer(Refusal.SOLD_OUT);
    } else {
      metrics.shieldMiss();
      admit.submit(purchase);
    }
    return decides == Decider.MYSQL;
  }
}
