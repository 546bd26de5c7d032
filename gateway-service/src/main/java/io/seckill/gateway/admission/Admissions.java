package io.seckill.gateway.admission;

import io.seckill.gateway.admission.Admission.Cause;
import io.seckill.gateway.admission.Admission.Refused;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.PendingRequest.Failure;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RequestBatcher;
import java.util.function.Consumer;

/**
 * Entry point for purchases. Purchases of an unverified partition or a quarantined SKU, and those
 * stopped by the open breaker, are answered at once; so are those without a key from the shopper
 * that the sold-out shield covers. All others go to Redis in batches. Never blocks.
 */
final class Admissions {

  private static final Admission SOLD_OUT = new Refused(Refusal.SOLD_OUT);
  private static final Admission UNVERIFIED = new Unknown(Cause.UNVERIFIED);
  private static final Admission QUARANTINED = new Unknown(Cause.QUARANTINED);
  private static final Admission BREAKER = new Unknown(Cause.BREAKER);

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
      purchase.answer(UNVERIFIED);
    } else if (servers.isQuarantined(attempt.skuId())) {
      purchase.answer(QUARANTINED);
    } else if (breaker.isOpen(attempt.partition())) {
      purchase.answer(BREAKER);
    } else if (!attempt.keyFromShopper() && shield.covers(attempt.skuId())) {
      metrics.shieldHit();
      purchase.answer(SOLD_OUT);
    } else {
      metrics.shieldMiss();
      enqueue(admit, purchase);
    }
  }

  static void enqueue(RequestBatcher<Purchase> queue, Purchase purchase) {
    if (!queue.offer(purchase.attempt().partition(), purchase)) {
      purchase.fail(Failure.NOT_SENT);
    }
  }
}
