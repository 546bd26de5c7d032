package io.seckill.consumer.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored order as the internal API shows it.
 *
 * @param orderId as text, because it is too long for a JavaScript number
 * @param reason only with REJECTED
 */
public record OrderRow(
    String orderId,
    long userId,
    long skuId,
    int quantity,
    long unitPriceCents,
    String requestId,
    OrderStatus status,
    @Nullable String reason,
    Instant admittedAt,
    Instant createdAt,
    Instant updatedAt) {

  static OrderRow read(ResultSet row) throws SQLException {
    return new OrderRow(
        row.getString("order_id"),
        row.getLong("user_id"),
        row.getLong("sku_id"),
        row.getInt("quantity"),
        row.getLong("unit_price_cents"),
        row.getString("request_id"),
        OrderStatus.valueOf(row.getString("status")),
        row.getString("reason"),
        UtcColumn.instant(row, "admitted_at"),
        UtcColumn.instant(row, "created_at"),
        UtcColumn.instant(row, "updated_at"));
  }

  public OrderId id() {
    return OrderId.parse(orderId);
  }

  /** Fits a long: a price is at most 10^12 and a quantity 10^4. */
  public long amountCents() {
    return unitPriceCents * quantity;
  }
}
