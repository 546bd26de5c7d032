package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.BegunPayments;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.Sql;
import io.seckill.support.contract.OrderRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The table {@code payment}: the charges requested from the provider, and when the provider is next
 * asked for their outcome.
 */
@Component
record PaymentTable(JdbcClient jdbc) implements BegunPayments {

  /**
   * Time since the last charge request to the provider; the pause until the next check grows with
   * it.
   */
  private static final String AGE = "TIMESTAMPDIFF(MICROSECOND, asked_at, NOW(6))";

  /**
   * Age from which the sweep takes over an unfinished payment from the request that began it, which
   * has ended by then; also the pause before a failed refund is tried again.
   */
  private static final long FIRST_PAUSE_MICROS = micros(Duration.ofSeconds(30));

  private static final String CHECK_LATER =
      "NOW(6) + INTERVAL " + FIRST_PAUSE_MICROS + " MICROSECOND)";

  /**
   * MySQL's clock was set back: the next check of a due refund, or of a payment that was begun just
   * now, is never so far ahead.
   */
  private static final String IS_TOO_FAR_AHEAD =
      "check_at > NOW(6) + INTERVAL "
          + 2 * FIRST_PAUSE_MICROS
          + " MICROSECOND AND (state = 'REFUND_DUE'"
          + " OR (state = 'STARTED' AND updated_at > NOW(6)))";

  private static final String OF_WALLET = "'" + ChargesInTransaction.ID_PREFIX + "%'";

  /** A charge of a wallet does not end the checks of another provider. */
  private static final String IS_PAID = "state = 'CHARGED' AND charge_id NOT LIKE " + OF_WALLET;

  private static final String STARTED = "(?, ?, 'STARTED', " + CHECK_LATER;
  private static final String CHARGED = "(?, ?, ?, 'CHARGED', NULL)";
  private static final String REFUND_DUE = "(?, ?, ?, 'REFUND_DUE', " + CHECK_LATER;

  /**
   * A charge that the provider has made.
   *
   * @param pays whether it pays for the order; else the caller refunds it at once, or the sweep
   *     after a pause
   */
  record BookedCharge(OrderRow order, String chargeId, boolean pays) {}

  /** Records that the provider is about to be asked for these charges. */
  void start(Map<OrderId, Long> amountsCents) {
    if (amountsCents.isEmpty()) {
      return;
    }
    List<Object> values = new ArrayList<>();
    new TreeMap<>(amountsCents).forEach((id, cents) -> values.addAll(List.of(id.value(), cents)));
    jdbc.sql(
            "INSERT INTO payment (order_id, amount_cents, state, check_at) VALUES "
                + Sql.repeated(STARTED, amountsCents.size())
                + " ON DUPLICATE KEY UPDATE"
                + " asked_at = IF("
                + IS_PAID
                + ", asked_at, NOW(6)), check_at = IF("
                + IS_PAID
                + ", check_at, VALUES(check_at)),"
                + " state = IF(state = 'DECLINED', 'STARTED', state)")
        .params(values)
        .update();
  }

  /** Records charges that the provider reports, perhaps without having been asked for them. */
  void charged(Collection<BookedCharge> charges) {
    if (charges.isEmpty()) {
      return;
    }
    List<String> rows = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    charges.stream()
        .sorted(Comparator.comparing(charge -> charge.order().orderId()))
        .forEach(
            charge -> {
              rows.add(charge.pays() ? CHARGED : REFUND_DUE);
              OrderRow order = charge.order();
              values.addAll(
                  List.of(order.orderId().value(), order.amountCents(), charge.chargeId()));
            });
    jdbc.sql(
            "INSERT INTO payment (order_id, amount_cents, charge_id, state, check_at) VALUES "
                + String.join(", ", rows)
                + " ON DUPLICATE KEY UPDATE"
                + " charge_id = IF(state = 'CHARGED' AND check_at IS NULL, charge_id,"
                + " VALUES(charge_id)),"
                + " check_at = IF((state = 'REFUND_DUE' AND VALUES(state) = state)"
                + " OR (state IN ('STARTED', 'DECLINED') AND VALUES(charge_id) LIKE "
                + OF_WALLET
                + "), check_at, VALUES(check_at)),"
                + " state = VALUES(state)")
        .params(values)
        .update();
  }

  void declined(Collection<OrderId> orders) {
    if (!orders.isEmpty()) {
      jdbc.sql(
              "UPDATE payment SET state = 'DECLINED'"
                  + " WHERE order_id IN (:ids) AND state = 'STARTED'")
          .param("ids", Orders.ids(orders))
          .update();
    }
  }

  /** The next sweep closes the payments that were begun. */
  @Override
  public void ended(Collection<OrderId> orders) {
    refundDue(orders, 0);
  }

  /** The caller refunds at once; if that fails, the sweep does so after a pause. */
  void refundDue(OrderId orderId) {
    refundDue(List.of(orderId), FIRST_PAUSE_MICROS);
  }

  private void refundDue(Collection<OrderId> orders, long pauseMicros) {
    if (orders.isEmpty()) {
      return;
    }
    jdbc.sql(
            "UPDATE payment FORCE INDEX (PRIMARY)"
                + " SET state = 'REFUND_DUE', check_at = NOW(6) + INTERVAL :pause MICROSECOND"
                + " WHERE order_id IN (:ids) AND state IN ('STARTED', 'DECLINED', 'REFUNDED')")
        .params(Map.of("pause", pauseMicros, "ids", Orders.ids(orders)))
        .update();
  }

  /**
   * The provider has closed a payment, and refunded it unless another one's charge has paid.
   *
   * @param longestBookingDelay time from the last charge request to the last check
   */
  void closed(OrderId orderId, Duration longestBookingDelay) {
    jdbc.sql(
            "UPDATE payment SET state = IF(state = 'CHARGED', state, 'REFUNDED'), check_at = IF("
                + AGE
                + " >= :delay, NULL, LEAST(asked_at + INTERVAL :delay MICROSECOND,"
                + " NOW(6) + INTERVAL GREATEST(:pause, "
                + AGE
                + ") MICROSECOND))"
                + " WHERE order_id = :id AND state IN ('CHARGED', 'REFUND_DUE', 'REFUNDED')"
                + " AND check_at IS NOT NULL")
        .params(
            Map.of(
                "delay",
                micros(longestBookingDelay),
                "pause",
                FIRST_PAUSE_MICROS,
                "id",
                orderId.value()))
        .update();
  }

  /** Returns payments whose check is due, those that have waited longest first. */
  List<OrderId> due(int limit) {
    List<OrderId> due =
        new ArrayList<>(
            ids(
                "SELECT order_id FROM payment WHERE check_at <= NOW(6) ORDER BY check_at LIMIT ?",
                limit));
    if (due.size() < limit) {
      due.addAll(
          ids(
              "SELECT order_id FROM payment FORCE INDEX (ix_payment_state) WHERE "
                  + IS_TOO_FAR_AHEAD
                  + " LIMIT ?",
              limit - due.size()));
    }
    return due;
  }

  private List<OrderId> ids(String sql, int limit) {
    return jdbc.sql(sql).param(limit).query(Long.class).list().stream().map(OrderId::new).toList();
  }

  /**
   * Claims a check that is due, and schedules the next: after a pause as long as the age of the
   * charge request, but a due refund is retried soon. {@code updated_at} stays: it shows since when
   * a refund is due. Returns false when another process has claimed it.
   */
  boolean claim(OrderId orderId) {
    return jdbc.sql(
                "UPDATE payment SET check_at = NOW(6) + INTERVAL"
                    + " IF(state = 'REFUND_DUE', :pause, GREATEST(:pause, "
                    + AGE
                    + ")) MICROSECOND, updated_at = updated_at WHERE order_id = :id"
                    + " AND (check_at <= NOW(6) OR "
                    + IS_TOO_FAR_AHEAD
                    + ")")
            .params(Map.of("pause", FIRST_PAUSE_MICROS, "id", orderId.value()))
            .update()
        == 1;
  }

  /** Whether a wallet has paid for an order that is PAID. */
  boolean isPaidByWallet(OrderId orderId) {
    return kept(List.of(orderId))
        .getOrDefault(orderId, "")
        .startsWith(ChargesInTransaction.ID_PREFIX);
  }

  /** The charges that have paid for these orders, all PAID. */
  Map<OrderId, String> kept(Collection<OrderId> orders) {
    if (orders.isEmpty()) {
      return Map.of();
    }
    return jdbc.sql(
            "SELECT order_id, charge_id FROM payment"
                + " WHERE order_id IN (:ids) AND charge_id IS NOT NULL")
        .param("ids", Orders.ids(orders))
        .query(Sql.map(row -> new OrderId(row.getLong(1)), row -> row.getString(2)));
  }

  /** Whether this charge is refunded. */
  boolean isRefunded(OrderId orderId, String chargeId) {
    return isThere(
        "SELECT COUNT(*) FROM payment WHERE order_id = ? AND charge_id = ? AND state = 'REFUNDED'",
        orderId,
        chargeId);
  }

  /** Whether this charge paid for an order whose sale was archived since, or was refunded. */
  boolean isOfArchived(OrderId orderId, String chargeId) {
    return isThere(
        "SELECT COUNT(*) FROM payment_history"
            + " WHERE order_id = ? AND charge_id = ? AND state IN ('CHARGED', 'REFUNDED')",
        orderId,
        chargeId);
  }

  private boolean isThere(String count, OrderId orderId, String chargeId) {
    return jdbc.sql(count).params(orderId.value(), chargeId).query(Long.class).single() == 1;
  }

  private static long micros(Duration duration) {
    return duration.toNanos() / 1_000;
  }
}
