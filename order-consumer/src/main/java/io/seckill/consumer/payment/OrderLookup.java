package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Orders;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Reads what MySQL has of one order, for an operator, on the internal port. */
@RestController
record OrderLookup(JdbcClient jdbc, Orders orders) {

  private static final String ALIAS =
      "SELECT stored_order_id FROM order_alias WHERE order_id = :id"
          + " UNION ALL SELECT stored_order_id FROM order_alias_history WHERE order_id = :id";

  private static final String PAYMENT =
      "SELECT state, charge_id FROM payment WHERE order_id = :id"
          + " UNION ALL SELECT state, charge_id FROM payment_history WHERE order_id = :id";

  private static final String DEAD_LETTERS =
      "SELECT id, state, reason FROM dead_letter WHERE order_id = :id";

  /**
   * The order with this id, or the order that it is an alias for; also of an archived sale.
   *
   * @throws ProblemException 404 UNKNOWN_ORDER with the dead letters of the order, if there are any
   */
  @GetMapping("/internal/v1/orders/{id}")
  LookedUpOrder show(@PathVariable String id) {
    OrderId orderId = PathIds.order(id);
    return orders
        .find(orderId)
        .or(() -> aliasedBy(orderId).flatMap(orders::find))
        .map(this::withPayment)
        .orElseThrow(() -> unknown(orderId));
  }

  private Optional<OrderId> aliasedBy(OrderId id) {
    return jdbc.sql(ALIAS).param("id", id.value()).query(Long.class).list().stream()
        .findFirst()
        .map(OrderId::new);
  }

  private LookedUpOrder withPayment(OrderRow order) {
    return jdbc
        .sql(PAYMENT)
        .param("id", order.orderId().value())
        .query(
            (row, number) ->
                LookedUpOrder.of(order, row.getString("state"), row.getString("charge_id")))
        .list()
        .stream()
        .findFirst()
        .orElseGet(() -> LookedUpOrder.of(order, null, null));
  }

  private ProblemException unknown(OrderId id) {
    List<String> letters =
        jdbc.sql(DEAD_LETTERS)
            .param("id", id.value())
            .query(
                (row, number) ->
                    row.getLong("id")
                        + " ("
                        + row.getString("state")
                        + ", "
                        + row.getString("reason")
                        + ")")
            .list();
    return ProblemException.of(
        ProblemCode.UNKNOWN_ORDER,
        letters.isEmpty()
            ? "MySQL does not have it; if a shopper was shown it, it may be queued still."
            : "MySQL does not have it. Its dead letters: " + String.join(", ", letters) + ".");
  }
}
