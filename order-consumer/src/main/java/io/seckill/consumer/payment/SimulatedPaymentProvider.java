package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import java.time.Duration;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Simulates a payment provider: accepts every charge below an amount, records the charges in a
 * table of its own, and commits by itself.
 */
final class SimulatedPaymentProvider implements PaymentProvider {

  private final JdbcClient book;
  private final long declineFromCents;

  SimulatedPaymentProvider(JdbcClient book, PaymentProperties properties) {
    Long threshold = properties.simulatedDeclineFromCents();
    this.book = book;
    this.declineFromCents = threshold == null ? Long.MAX_VALUE : threshold;
  }

  @Override
  public Charge charge(OrderId orderId, long amountCents) {
    if (amountCents >= declineFromCents) {
      return new Charge.Declined();
    }
    int inserted =
        book.sql(
                "INSERT INTO simulated_charge (order_id, amount_cents, state)"
                    + " VALUES (?, ?, 'CHARGED') ON DUPLICATE KEY UPDATE order_id = order_id")
            .params(orderId.value(), amountCents)
            .update();
    if (inserted == 1) {
      return charged(orderId);
    }
    Optional<Charge.Charged> before = find(orderId);
    return before.isPresent() ? before.get() : new Charge.Declined();
  }

  @Override
  public Optional<Charge.Charged> find(OrderId orderId) {
    return book.sql("SELECT state FROM simulated_charge WHERE order_id = ?")
        .param(orderId.value())
        .query(String.class)
        .optional()
        .filter("CHARGED"::equals)
        .map(state -> charged(orderId));
  }

  private static Charge.Charged charged(OrderId orderId) {
    return new Charge.Charged("sim-" + orderId);
  }

  @Override
  public void refund(OrderId orderId) {
    book.sql(
            "INSERT INTO simulated_charge (order_id, amount_cents, state) VALUES (?, 0, 'REFUNDED')"
                + " ON DUPLICATE KEY UPDATE state = 'REFUNDED'")
        .param(orderId.value())
        .update();
  }

  /** Zero, because a refund closes the payment. */
  @Override
  public Duration longestBookingDelay() {
    return Duration.ZERO;
  }
}
