package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.runtime.Sql;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code unexplained_charge}: reports of money that need an operator. */
@Component
record UnexplainedCharges(JdbcClient jdbc, ChargeTable charges) {

  private static final Logger log = LoggerFactory.getLogger(UnexplainedCharges.class);

  private static final int MAX_DETAIL = 1_000;

  /**
   * A repeated report changes nothing, except that the reason of an order that was unknown before
   * becomes the present one.
   */
  private static final String RECORD =
      "INSERT INTO unexplained_charge"
          + " (report_hash, reason, kind, charge_id, order_id, amount_cents, currency, detail)"
          + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
          + " ON DUPLICATE KEY UPDATE"
          + " reason = IF(state = 'OPEN' AND reason = 'UNKNOWN_ORDER', VALUES(reason), reason)";

  private static final String SELECT =
      "SELECT u.*, COALESCE(o.status, oh.status) AS order_status,"
          + " COALESCE(p.state, ph.state) AS payment_state FROM unexplained_charge u"
          + " LEFT JOIN orders o ON o.order_id = u.order_id"
          + " LEFT JOIN payment p ON p.order_id = u.order_id"
          + " LEFT JOIN order_history oh ON oh.order_id = u.order_id"
          + " LEFT JOIN payment_history ph ON ph.order_id = u.order_id WHERE ";

  private static final String NOW_STORED =
      "SELECT u.id, u.kind, u.charge_id, u.order_id, u.amount_cents, u.currency"
          + " FROM unexplained_charge u STRAIGHT_JOIN orders o ON o.order_id = u.order_id"
          + " WHERE u.state = 'OPEN' AND u.reason = 'UNKNOWN_ORDER' AND u.id > ?"
          + " ORDER BY u.id LIMIT ?";

  /** Records a report, once, in the caller's transaction. */
  void record(ChargeReport report, UnexplainedReason reason) {
    charges.claim(Map.of(report.chargeId(), report.orderId()));
    boolean isNew =
        insert(
            report.hash(),
            reason,
            report.kind().name(),
            report.chargeId(),
            report.orderId().value(),
            report.amountCents(),
            report.currency(),
            "");
    if (isNew) {
      log.warn("unexplained charge: {} {}", reason, report);
    }
  }

  /** Records the beginning of a signed callback that does not follow the contract, once. */
  void recordUnreadable(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", " ").strip();
    String detail = text.length() <= MAX_DETAIL ? text : text.substring(0, MAX_DETAIL - 1);
    byte[] hash = ChargeReport.sha256(body);
    if (insert(hash, UnexplainedReason.UNREADABLE, null, null, null, null, null, detail)) {
      log.warn("unexplained charge: a signed callback of {} bytes is unreadable", body.length);
    }
  }

  /** Returns whether the row is new. */
  private boolean insert(
      byte[] hash,
      UnexplainedReason reason,
      @Nullable String kind,
      @Nullable String chargeId,
      @Nullable Long orderId,
      @Nullable Long amountCents,
      @Nullable String currency,
      String detail) {
    return jdbc.sql(RECORD)
            .params(
                Arrays.asList(
                    hash, reason.name(), kind, chargeId, orderId, amountCents, currency, detail))
            .update()
        == 1;
  }

  /**
   * Those of the reported charges that pay for nothing any more, because another report has
   * contradicted these, or an operator decides or has decided about them.
   */
  Set<String> contradicted(Collection<ChargeReport> reports) {
    return Set.copyOf(
        jdbc.sql(
                "SELECT DISTINCT charge_id FROM unexplained_charge WHERE charge_id IN (:charges)"
                    + " AND NOT (reason = 'UNKNOWN_ORDER' AND state = 'OPEN'"
                    + " AND report_hash IN (:reports))")
            .param("charges", reports.stream().map(ChargeReport::chargeId).toList())
            .param("reports", reports.stream().map(ChargeReport::hash).toList())
            .query(String.class)
            .list());
  }

  /**
   * Closes the open row of the charge that the provider has refunded.
   *
   * @param stored whether the order is stored: the charge of a row UNKNOWN_ORDER may have paid for
   *     it since
   * @return false when there is no row of this charge, open or closed
   */
  boolean refunded(ChargeReport refund, boolean stored) {
    String sameCharge =
        " WHERE charge_id = ? AND order_id = ? AND amount_cents = ? AND kind = 'CHARGED'"
            + (stored ? " AND reason <> 'UNKNOWN_ORDER'" : "");
    List<Object> charge =
        List.of(refund.chargeId(), refund.orderId().value(), refund.amountCents());
    jdbc.sql(
            "UPDATE unexplained_charge SET state = 'CLOSED', closed_by = 'payment-provider',"
                + " closed_reason = 'The provider has reported the refund.', closed_at = NOW(6)"
                + sameCharge
                + " AND state = 'OPEN'")
        .params(charge)
        .update();
    return jdbc.sql("SELECT COUNT(*) FROM unexplained_charge" + sameCharge)
            .params(charge)
            .query(Long.class)
            .single()
        > 0;
  }

  /**
   * Open reports by their ids, above {@code after}, whose orders were unknown and are stored now,
   * the oldest first.
   */
  Map<Long, ChargeReport> nowStored(long after, int limit) {
    return jdbc.sql(NOW_STORED)
        .params(after, limit)
        .query(
            Sql.map(
                row -> row.getLong("id"),
                row ->
                    new ChargeReport(
                        ChargeReport.ReportKind.valueOf(row.getString("kind")),
                        row.getString("charge_id"),
                        new OrderId(row.getLong("order_id")),
                        row.getLong("amount_cents"),
                        row.getString("currency"))));
  }

  /** Removes a report whose order has been stored, and that is explained by it. */
  void explained(long id) {
    jdbc.sql(
            "DELETE FROM unexplained_charge"
                + " WHERE id = ? AND state = 'OPEN' AND reason = 'UNKNOWN_ORDER'")
        .param(id)
        .update();
  }

  /**
   * A page by id, oldest first.
   *
   * @param state null for all
   * @param after id of the last row seen, 0 for the first page
   */
  List<UnexplainedCharge> page(
      UnexplainedCharge.@Nullable UnexplainedState state, long after, int limit) {
    return jdbc.sql(
            SELECT
                + (state == null ? "" : "u.state = :state AND ")
                + "u.id > :after ORDER BY u.id LIMIT :limit")
        .param("state", state == null ? null : state.name())
        .param("after", after)
        .param("limit", limit)
        .query((row, number) -> UnexplainedCharge.read(row))
        .list();
  }

  /**
   * Marks a row as dealt with; a repeat changes nothing.
   *
   * @throws ProblemException 404 UNKNOWN_CHARGE
   */
  UnexplainedCharge close(long id, String reason, Operator operator) {
    jdbc.sql(
            "UPDATE unexplained_charge SET state = 'CLOSED', closed_by = ?, closed_reason = ?,"
                + " closed_at = NOW(6) WHERE id = ? AND state = 'OPEN'")
        .params(operator.name(), reason, id)
        .update();
    return jdbc.sql(SELECT + "u.id = ?")
        .param(id)
        .query((row, number) -> UnexplainedCharge.read(row))
        .optional()
        .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_CHARGE));
  }
}
