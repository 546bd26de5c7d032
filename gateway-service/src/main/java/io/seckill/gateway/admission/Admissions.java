package io.seckill.gateway.admission;

import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.PendingRequest.Failure;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RequestBatcher;
import java.util.function.Consumer;
import org.springframework.stereotype.Component;

/**
 * Entry point for purchases. Purchases of an unverified partition or a quarantined SKU, and those
 * stopped by the open breaker, are answered at once; so are those without a key from the shopper
 * that the sold-out shield covers. All others go to Redis in batches. Never blocks.
 */
@Component
final class Admissions {

  private final VerifiedServers servers;
  private final RedisBreaker breaker;
  private final SoldOutShield shield;
  private final AdmissionMetrics metrics;
  private final RequestBatcher<Purchase> admit;

  Admissions(
      VerifiedServers servers,
      RedisBreaker breaker,
      SoldOutShield shield,
      AdmissionMetrics metrics,
      RequestBatcher<Purchase> admit) {
    this.servers = servers;
    this.breaker = breaker;
    this.shield = shield;
    this.metrics = metrics;
    this.admit = admit;
  }

  /**
   * Decides on one attempt.
   *
   * @param answer called once, by this thread or another, within seckill.admission.answer-within
   */
  void submit(PurchaseAttempt attempt, Consumer<Admission> answer) {
    Purchase purchase = new Purchase(attempt, answer);
    if (servers.replicationId(attempt.partition()) == null) {
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
      enqueue(admit, purchase);
    }
  }

  static void enqueue(RequestBatcher<Purchase> queue, Purchase purchase) {
    if (!queue.offer(purchase)) {
      purchase.fail(Failure.NOT_SENT);
    }
  }
}
