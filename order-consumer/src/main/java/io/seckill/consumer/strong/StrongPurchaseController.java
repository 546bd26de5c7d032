package io.seckill.consumer.strong;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.storage.StrongDecision;
import io.seckill.consumer.storage.StrongPurchase;
import io.seckill.consumer.storage.StrongSales;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Purchases of strong sales on the internal port (docs/adr/0020-strong-sales.md). */
@RestController
class StrongPurchaseController {

  private static final int MAX_PURCHASES = 64;

  private final StrongSales sales;

  StrongPurchaseController(StrongSales sales) {
    this.sales = sales;
  }

  /** Purchases as a gateway sends them; the constructors check every bound. */
  record Purchases(List<Entry> purchases) {

    Purchases {
      if (purchases == null || purchases.isEmpty() || purchases.size() > MAX_PURCHASES) {
        throw ProblemException.invalid(
            "purchases", "purchases must be an array of 1 to " + MAX_PURCHASES + " objects.");
      }
      if (purchases.stream().anyMatch(entry -> entry == null)) {
        throw ProblemException.invalid("purchases", "purchases must have no null.");
      }
    }
  }

  record Entry(
      Long skuId, Long userId, String requestId, Long quantity, @Nullable String traceparent) {

    Entry {
      RequestChecks.integer("skuId", skuId, 1, OrderMessage.MAX_SKU_ID);
      RequestChecks.integer("userId", userId, 1, Long.MAX_VALUE);
      RequestChecks.integer("quantity", quantity, 1, OrderMessage.MAX_QUANTITY);
      if (requestId == null || !OrderMessage.REQUEST_ID.matcher(requestId).matches()) {
        throw ProblemException.invalid("requestId", "requestId must match [A-Za-z0-9_-]{8,64}.");
      }
      if (traceparent != null && !OrderMessage.TRACEPARENT.matcher(traceparent).matches()) {
        throw ProblemException.invalid("traceparent", "traceparent must be a W3C traceparent.");
      }
    }

    StrongPurchase purchase() {
      return new StrongPurchase(skuId, userId, requestId, quantity.intValue(), traceparent);
    }
  }

  record Outcomes(List<Outcome> outcomes) {}

  record Outcome(String outcome, @Nullable String orderId, @Nullable OrderStatus status) {

    static Outcome of(StrongDecision decision) {
      OrderId id = decision.orderId();
      return new Outcome(
          decision.outcome().name(), id == null ? null : id.toString(), decision.status());
    }
  }

  @PostMapping("/internal/v1/purchases")
  Outcomes decide(@JsonBody Purchases body) {
    List<StrongPurchase> purchases = body.purchases().stream().map(Entry::purchase).toList();
    return new Outcomes(sales.decide(purchases).stream().map(Outcome::of).toList());
  }
}
