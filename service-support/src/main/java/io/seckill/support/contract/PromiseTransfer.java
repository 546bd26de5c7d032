package io.seckill.support.contract;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Some of the promises of a gateway before a term, or, with 0, before any.
 *
 * @param orders as their messages have them, without a trace context
 * @param admitted the most units that Redis reported to it, by SKU; none when absent
 * @param forgotten sales of orders that it has forgotten and MySQL may lack; none when absent, as a
 *     former reader requires of a gateway that has forgotten none
 * @param isLast whether it has transferred everything now
 * @param isComplete false from a former gateway that has forgotten orders, of any sale
 */
public record PromiseTransfer(
    long term,
    @JsonIgnoreProperties("traceparent") List<OrderMessage> orders,
    List<Admitted> admitted,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Forgotten> forgotten,
    boolean isLast,
    boolean isComplete) {

  /** Most orders in a part of a transfer. */
  public static final int MAX_ORDERS = 200;

  public PromiseTransfer {
    RequestChecks.integer("term", term, 0, OrderMessage.MAX_COUNT);
    requireWhole("orders", orders);
    if (orders.size() > MAX_ORDERS) {
      throw ProblemException.invalid("orders", "orders must have at most " + MAX_ORDERS + ".");
    }
    admitted = Objects.requireNonNullElse(admitted, List.of());
    requireWhole("admitted", admitted);
    forgotten = Objects.requireNonNullElse(forgotten, List.of());
    requireWhole("forgotten", forgotten);
  }

  private static void requireWhole(String field, @Nullable List<?> list) {
    if (list == null || list.stream().anyMatch(Objects::isNull)) {
      throw ProblemException.invalid(field, field + " must be an array without null.");
    }
  }

  /**
   * Units that Redis has admitted of a SKU so far, for any gateway, including those of orders that
   * it was loaded with.
   */
  public record Admitted(long skuId, long epoch, long units) {

    public Admitted {
      RequestChecks.integer("skuId", skuId, 1, OrderMessage.MAX_SKU_ID);
      RequestChecks.integer("epoch", epoch, 1, OrderMessage.MAX_COUNT);
      RequestChecks.integer("units", units, 0, OrderMessage.MAX_COUNT);
    }
  }

  public record Forgotten(long skuId, long epoch) {

    public Forgotten {
      RequestChecks.integer("skuId", skuId, 1, OrderMessage.MAX_SKU_ID);
      RequestChecks.integer("epoch", epoch, 1, OrderMessage.MAX_COUNT);
    }
  }
}
