package io.seckill.consumer.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Some of the promises of a gateway before a term, or, with 0, before any.
 *
 * @param admitted the most units that Redis reported to it, by SKU; null for none
 * @param isLast whether it has handed over everything now
 * @param isComplete whether it had not forgotten an order
 */
record Handover(
    Long term,
    List<Promised> orders,
    @Nullable List<Admitted> admitted,
    boolean isLast,
    boolean isComplete) {

  private static final int MAX_ORDERS = 200;
  private static final Set<PurchasePolicy> POLICIES = EnumSet.allOf(PurchasePolicy.class);

  Handover {
    RequestChecks.integer("term", term, 0, Long.MAX_VALUE / 2);
    requireWhole("orders", orders);
    if (orders.size() > MAX_ORDERS) {
      throw ProblemException.invalid("orders", "orders must have at most " + MAX_ORDERS + ".");
    }
    if (admitted != null) {
      requireWhole("admitted", admitted);
    }
  }

  private static void requireWhole(String field, @Nullable List<?> list) {
    if (list == null || list.stream().anyMatch(Objects::isNull)) {
      throw ProblemException.invalid(field, field + " must be an array without null.");
    }
  }

  /** Units admitted so far. */
  record Admitted(Long skuId, Long epoch, Long units) {

    Admitted {
      RequestChecks.integer("skuId", skuId, 1, OrderMessage.MAX_SKU_ID);
      RequestChecks.integer("epoch", epoch, 1, Long.MAX_VALUE / 2);
      RequestChecks.integer("units", units, 0, Long.MAX_VALUE / 2);
    }
  }

  /** An order as its message has it, without a trace context. */
  record Promised(
      String orderId,
      Long userId,
      Long skuId,
      Long quantity,
      String requestId,
      String policy,
      Long epoch,
      Long seq,
      Long admittedAt) {

    Promised {
      RequestChecks.integer("userId", userId, 1, Long.MAX_VALUE);
      RequestChecks.integer("skuId", skuId, 1, OrderMessage.MAX_SKU_ID);
      RequestChecks.integer("quantity", quantity, 1, OrderMessage.MAX_QUANTITY);
      RequestChecks.oneOf("policy", policy, POLICIES);
      RequestChecks.integer("epoch", epoch, 1, Long.MAX_VALUE);
      RequestChecks.integer("seq", seq, 1, Long.MAX_VALUE);
      RequestChecks.integer("admittedAt", admittedAt, 1, Long.MAX_VALUE);
    }

    /**
     * @throws ProblemException 400 when a text is not as in a message
     */
    OrderMessage message() {
      if (orderId == null || requestId == null) {
        throw ProblemException.invalid("orders", "orders need orderId and requestId.");
      }
      try {
        return new OrderMessage(
            OrderId.parse(orderId),
            userId,
            skuId,
            quantity.intValue(),
            requestId,
            PurchasePolicy.valueOf(policy),
            epoch,
            seq,
            admittedAt,
            null);
      } catch (IllegalArgumentException e) {
        throw ProblemException.invalid("orders", "An order is not as in a message.");
      }
    }
  }
}
