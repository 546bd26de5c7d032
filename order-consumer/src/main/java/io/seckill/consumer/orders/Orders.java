package io.seckill.consumer.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Reads and updates single stored orders. */
@Component
public class Orders {

  private final JdbcClient jdbc;

  Orders(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  public Optional<OrderRow> find(OrderId orderId) {
    return jdbc.sql("SELECT * FROM orders WHERE order_id = ?")
        .param(orderId.value())
        .query((row, number) -> OrderRow.read(row))
        .optional();
  }

  /**
   * @throws ProblemException 404, the same for an order that does not exist and for another user's
   */
  public OrderRow ofUser(OrderId orderId, long userId) {
    return find(orderId).filter(order -> order.userId() == userId).orElseThrow(Orders::unknown);
  }

  /**
   * Changes a CONFIRMED order to PAID, in the caller's transaction. This one statement decides
   * whether a payment succeeds.
   */
  public boolean markPaid(OrderId orderId) {
    return jdbc.sql("UPDATE orders SET status = 'PAID' WHERE order_id = ? AND status = 'CONFIRMED'")
            .param(orderId.value())
            .update()
        == 1;
  }

  /** Locks the order: nothing else ends or pays for it until the caller's transaction is over. */
  public OrderStatus lockedStatus(OrderId orderId) {
    return jdbc.sql("SELECT status FROM orders WHERE order_id = ? FOR UPDATE")
        .param(orderId.value())
        .query((row, number) -> OrderStatus.valueOf(row.getString(1)))
        .single();
  }

  public OrderStatus status(OrderId orderId) {
    return find(orderId).orElseThrow(Orders::unknown).status();
  }

  public static ProblemException unknown() {
    return ProblemException.of(ProblemCode.UNKNOWN_ORDER);
  }
}
