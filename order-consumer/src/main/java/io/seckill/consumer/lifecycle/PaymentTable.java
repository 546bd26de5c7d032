package io.seckill.consumer.lifecycle;

import io.seckill.common.order.OrderId;
import java.time.Duration;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code payment}: what the provider was asked for, and what must still be done. */
@Component
class PaymentTable {

  private final JdbcClient jdbc;

  PaymentTable(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /** Writes down that the provider is about to be asked; what is further on stays as it is. */
  void start(OrderId orderId, long amountCents) {
    jdbc.sql(
            "INSERT INTO payment (order_id, amount_cents, state) VALUES (?, ?, 'STARTED')"
                + " ON DUPLICATE KEY UPDATE state = IF(state = 'DECLINED', 'STARTED', state)")
        .params(orderId.value(), amountCents)
        .update();
  }

  void declined(OrderId orderId) {
    move(orderId, "DECLINED", "'STARTED'");
  }

  void charged(OrderId orderId, String chargeId) {
    noteCharge(orderId, chargeId);
    move(orderId, "CHARGED", "'STARTED', 'DECLINED'");
  }

  /** The order has ended without this payment: the money goes back, or is never taken. */
  void refundDue(OrderId orderId) {
    move(orderId, "REFUND_DUE", "'STARTED', 'DECLINED'");
  }

  void noteCharge(OrderId orderId, String chargeId) {
    jdbc.sql("UPDATE payment SET charge_id = ? WHERE order_id = ?")
        .params(chargeId, orderId.value())
        .update();
  }

  void refunded(OrderId orderId) {
    move(orderId, "REFUNDED", "'REFUND_DUE'");
  }

  /** Payments whose request has ended, or died, without finishing them. */
  List<OrderId> unfinished(Duration age, int limit) {
    return jdbc
        .sql(
            "SELECT order_id FROM payment WHERE state = 'STARTED'"
                + " AND updated_at <= NOW(6) - INTERVAL ? MICROSECOND LIMIT ?")
        .params(age.toMillis() * 1_000, limit)
        .query(Long.class)
        .list()
        .stream()
        .map(OrderId::new)
        .toList();
  }

  List<OrderId> refundsDue(int limit) {
    return jdbc
        .sql("SELECT order_id FROM payment WHERE state = 'REFUND_DUE' ORDER BY updated_at LIMIT ?")
        .param(limit)
        .query(Long.class)
        .list()
        .stream()
        .map(OrderId::new)
        .toList();
  }

  /**
   * @return false when this event had its effect before; in the caller's transaction
   */
  boolean firstTime(String eventId, OrderId orderId) {
    return jdbc.sql(
                "INSERT INTO payment_event (event_id, order_id) VALUES (?, ?)"
                    + " ON DUPLICATE KEY UPDATE event_id = event_id")
            .params(eventId, orderId.value())
            .update()
        == 1;
  }

  private void move(OrderId orderId, String to, String from) {
    jdbc.sql("UPDATE payment SET state = ? WHERE order_id = ? AND state IN (" + from + ")")
        .params(to, orderId.value())
        .update();
  }
}
