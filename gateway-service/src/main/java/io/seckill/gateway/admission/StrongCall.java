package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Stored;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongPurchases;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets order-consumer decide a batch of purchases of strong sales. Without an answer that can be
 * trusted as a whole, the outcome of every purchase of the batch is unknown. Thread-safe.
 */
final class StrongCall implements RequestBatcher.Executor<Purchase> {

  private static final Logger log = LoggerFactory.getLogger(StrongCall.class);

  private final ConsumerClient consumer;
  private final Duration within;
  private final AtomicBoolean failing = new AtomicBoolean();

  /** {@code within} is the longest time for the call: nobody waits for its answer any longer. */
  StrongCall(ConsumerClient consumer, Duration within) {
    this.consumer = consumer;
    this.within = within;
  }

  @Override
  public void execute(List<Purchase> purchases) {
    List<Admission> outcomes;
    try {
      StrongPurchases batch =
          new StrongPurchases(purchases.stream().map(StrongCall::strong).toList());
      outcomes = outcomes(consumer.decide(batch, within).outcomes(), purchases.size());
    } catch (RuntimeException e) { // the outcome is unknown after any exception
      if (!failing.getAndSet(true)) {
        log.warn("order-consumer decides no purchases of strong sales: {}", e.toString());
      }
      return;
    }
    if (failing.getAndSet(false)) {
      log.info("order-consumer decides purchases of strong sales again");
    }
    for (int i = 0; i < purchases.size(); i++) {
      purchases.get(i).answer(outcomes.get(i));
    }
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

  /** Throws IllegalArgumentException when it is not the answer to as many purchases. */
  static List<Admission> outcomes(List<StrongDecision> decisions, int purchases) {
    if (decisions.size() != purchases) {
      throw new IllegalArgumentException("not " + purchases + " outcomes but " + decisions.size());
    }
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
