package io.seckill.consumer.payment;

import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A report of money that needs an operator, as operators see it.
 *
 * @param kind with chargeId, orderId and amountCents, null when the report was unreadable
 * @param orderId as text; null also when the order id is not known
 * @param orderStatus null when the order is not stored
 * @param paymentState null when no payment of the order was begun
 * @param closedBy with closedReason and closedAt, null while OPEN
 */
record UnexplainedCharge(
    long id,
    UnexplainedReason reason,
    ChargeReport.@Nullable ReportKind kind,
    @Nullable String chargeId,
    @Nullable String orderId,
    @Nullable Long amountCents,
    @Nullable String currency,
    @Nullable String orderStatus,
    @Nullable String paymentState,
    String detail,
    Instant receivedAt,
    UnexplainedState state,
    @Nullable String closedBy,
    @Nullable String closedReason,
    @Nullable Instant closedAt) {

  /** OPEN until an operator has dealt with it, or the provider reports the refund. */
  enum UnexplainedState {
    OPEN,
    CLOSED
  }

  static UnexplainedCharge read(ResultSet row) throws SQLException {
    String kind = row.getString("kind");
    return new UnexplainedCharge(
        row.getLong("id"),
        UnexplainedReason.valueOf(row.getString("reason")),
        kind == null ? null : ChargeReport.ReportKind.valueOf(kind),
        row.getString("charge_id"),
        row.getString("order_id"),
        row.getObject("amount_cents", Long.class),
        row.getString("currency"),
        row.getString("order_status"),
        row.getString("payment_state"),
        row.getString("detail"),
        UtcColumn.instant(row, "received_at"),
        UnexplainedState.valueOf(row.getString("state")),
        row.getString("closed_by"),
        row.getString("closed_reason"),
        UtcColumn.instantOrNull(row, "closed_at"));
  }
}
