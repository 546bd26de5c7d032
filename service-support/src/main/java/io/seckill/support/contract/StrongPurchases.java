package io.seckill.support.contract;

import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A batch of purchases of strong sales. */
public record StrongPurchases(List<StrongPurchase> purchases) {

  private static final int MAX_PURCHASES = 64;

  public StrongPurchases {
    RequestChecks.list("purchases", purchases, MAX_PURCHASES);
  }

  /** A purchase of a strong sale, within the bounds of {@link OrderMessage}. */
  public record StrongPurchase(
      long skuId, long userId, String requestId, int quantity, @Nullable String traceparent) {

    public StrongPurchase {
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
  }

  public record Decisions(List<StrongDecision> outcomes) {

    public Decisions {
      outcomes = List.copyOf(outcomes);
    }
  }
}
