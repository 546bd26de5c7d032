package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.ser.std.ToStringSerializer;

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
    @JsonSerialize(using = ToStringSerializer.class) OrderId orderId,
    long skuId,
    int quantity,
    OrderStatus status,
    @Nullable RejectReason reason,
    @Nullable Long position,
    @Nullable Long expectedSeconds,
    Instant admittedAt,
    Instant updatedAt,
    @Nullable Instant payBy) {

  private static final JsonMapper JSON = JsonMapper.shared();

  String json() {
    return JSON.writeValueAsString(this);
  }
}
