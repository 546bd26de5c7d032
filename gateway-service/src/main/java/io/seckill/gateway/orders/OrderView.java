package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order as its owner sees it.
 *
 * @param reason only with REJECTED
 * @param position place in the queue from 1, only with QUEUED
 * @param expectedSeconds until a result, only with QUEUED and when the settlement rate is known
 * @param updatedAt time of the latest result
 * @param payBy only with CONFIRMED, and when the payment time-out is known
 */
record OrderView(
    OrderId orderId,
    long skuId,
    int quantity,
    OrderStatus status,
    @Nullable RejectReason reason,
    @Nullable Long position,
    @Nullable Long expectedSeconds,
    Instant admittedAt,
    Instant updatedAt,
    @Nullable Instant payBy) {

  /** JSON without reflection; no member needs escaping. */
  String json() {
    StringBuilder json = new StringBuilder(256);
    appendTo(json);
    return json.toString();
  }

  void appendTo(StringBuilder json) {
    json.append("{\"orderId\":\"").append(orderId);
    json.append("\",\"skuId\":").append(skuId);
    json.append(",\"quantity\":").append(quantity);
    json.append(",\"status\":\"").append(status).append('"');
    text(json, "reason", reason);
    json.append(",\"position\":").append(position);
    json.append(",\"expectedSeconds\":").append(expectedSeconds);
    text(json, "admittedAt", admittedAt);
    text(json, "updatedAt", updatedAt);
    text(json, "payBy", payBy);
    json.append('}');
  }

  private static void text(StringBuilder json, String name, @Nullable Object value) {
    json.append(",\"").append(name).append("\":");
    if (value == null) {
      json.append("null");
    } else {
      json.append('"').append(value).append('"');
    }
  }
}
