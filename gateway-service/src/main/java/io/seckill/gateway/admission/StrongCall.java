package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Stored;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.batching.RequestBatcher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * Lets order-consumer decide a batch of purchases of strong sales. Without an answer that can be
 * trusted as a whole, the outcome of every purchase of the batch is unknown. Thread-safe.
 */
final class StrongCall implements RequestBatcher.Executor<Purchase> {

  private static final Logger log = LoggerFactory.getLogger(StrongCall.class);

  private final ConsumerClient consumer;
  private final Duration within;
  private final AtomicBoolean failing = new AtomicBoolean();

  /**
   * @param within longest time for the call: nobody waits for its answer any longer
   */
  StrongCall(ConsumerClient consumer, Duration within) {
    this.consumer = consumer;
    this.within = within;
  }

  @Override
  public void execute(List<Purchase> purchases) {
    List<Admission> outcomes;
    try {
      ConsumerAnswer answer = consumer.decide(Map.of("purchases", bodies(purchases)), within);
      outcomes = outcomes(answer.body().path("outcomes"), purchases.size());
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

  private static List<Map<String, @Nullable Object>> bodies(List<Purchase> purchases) {
    return purchases.stream().map(purchase -> body(purchase.attempt())).toList();
  }

  private static Map<String, @Nullable Object> body(PurchaseAttempt attempt) {
    Map<String, @Nullable Object> body = new LinkedHashMap<>();
    body.put("skuId", attempt.skuId());
    body.put("userId", attempt.userId());
    body.put("requestId", attempt.requestId());
    body.put("quantity", attempt.quantity());
    body.put("traceparent", attempt.traceparent());
    return body;
  }

  /**
   * @throws IllegalArgumentException when it is not the answer to as many purchases
   */
  static List<Admission> outcomes(JsonNode answered, int purchases) {
    if (!answered.isArray() || answered.size() != purchases) {
      throw new IllegalArgumentException(
          "not " + purchases + " outcomes but " + answered.getNodeType() + " " + answered.size());
    }
    List<Admission> outcomes = new ArrayList<>(purchases);
    answered.forEach(one -> outcomes.add(outcome(one)));
    return outcomes;
  }

  private static Admission outcome(JsonNode one) {
    String outcome = text(one, "outcome");
    return switch (outcome) {
      case "CONFIRMED" -> stored(one, false);
      case "REPEATED" -> stored(one, true);
      case "BUSY" -> new Busy();
      case "UNKNOWN" -> Unknown.MYSQL;
      default -> Refusal.valueOf(outcome);
    };
  }

  private static Stored stored(JsonNode one, boolean isRepeat) {
    OrderId id = OrderId.parse(text(one, "orderId"));
    OrderStatus status = OrderStatus.valueOf(text(one, "status"));
    // A repeat may be of an order that Redis had admitted before a fallback.
    if (!isRepeat && !(id.isDecidedByMySql() && status == OrderStatus.CONFIRMED)) {
      throw new IllegalArgumentException("not an order of a strong sale: " + id + " " + status);
    }
    return new Stored(id, status, isRepeat);
  }

  /** Empty, which nothing accepts, if the member is missing. */
  private static String text(JsonNode one, String member) {
    return one.path(member).asString("");
  }
}
