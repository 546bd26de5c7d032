package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Stored;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.batching.BatchCall;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongPurchases;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import java.time.Duration;
import java.util.List;

/** Lets order-consumer decide a batch of purchases of strong sales. */
final class StrongCall {

  private StrongCall() {}

  /** {@code within} is the longest time for a call: nobody waits for its answer any longer. */
  static BatchCall<Purchase, Admission> to(ConsumerClient consumer, Duration within) {
    return new BatchCall<>(
        "purchases of strong sales",
        purchases ->
            outcomes(
                consumer
                    .decide(
                        new StrongPurchases(purchases.stream().map(StrongCall::strong).toList()),
                        within)
                    .outcomes()),
        Purchase::answer);
  }

  private static StrongPurchase strong(Purchase purchase) {
    PurchaseAttempt attempt = purchase.attempt();
    return new StrongPurchase(
        attempt.skuId(),
        attempt.userId(),
        attempt.requestId(),
        attempt.quantity(),
        attempt.traceparent());
  }

  /** Throws IllegalArgumentException when one of them is not an outcome of a strong sale. */
  static List<Admission> outcomes(List<StrongDecision> decisions) {
    return decisions.stream().map(StrongCall::outcome).toList();
  }

  private static Admission outcome(StrongDecision one) {
    return switch (one.outcome()) {
      case CONFIRMED -> stored(one, false);
      case REPEATED -> stored(one, true);
      case BUSY -> Busy.BRIEFLY;
      case UNKNOWN -> Unknown.MYSQL;
      default -> Refusal.valueOf(one.outcome().name());
    };
  }

  private static Stored stored(StrongDecision one, boolean isRepeat) {
    OrderId id = one.orderId();
    OrderStatus status = one.status();
    // A repeat may be of an order that Redis had admitted before a fallback.
    if (id == null
        || status == null
        || (!isRepeat && !(id.isDecidedByMySql() && status == OrderStatus.CONFIRMED))) {
      throw new IllegalArgumentException("not an order of a strong sale: " + id + " " + status);
    }
    return new Stored(id, status, isRepeat);
  }
}
