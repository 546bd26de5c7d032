package io.seckill.gateway.orders;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import io.seckill.common.sale.Shards;
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

  static OrderView of(StoredOrder order, PaymentTimeout paymentTimeout) {
    return new OrderView(
        order.id(),
        Shards.sku(order.skuId()),
        order.quantity(),
        order.status(),
        order.reason(),
        null,
        null,
        order.admittedAt(),
        order.updatedAt(),
        payBy(order.status(), order.createdAt(), paymentTimeout));
  }

  static OrderView of(RedisOrder order, SettleRates rates, PaymentTimeout paymentTimeout) {
    AdmissionRecord record = order.record();
    boolean queued = record.status() == OrderStatus.QUEUED;
    long waitMs = queued ? rates.expectedMs(order.skuId(), order.position()) : -1;
    Instant changedAt = Instant.ofEpochMilli(record.changedAt());
    return new OrderView(
        order.id(),
        Shards.sku(order.skuId()),
        record.quantity(),
        record.status(),
        record.reason(),
        queued ? order.position() : null,
        waitMs < 0 ? null : (waitMs + 999) / 1000,
        Instant.ofEpochMilli(record.admittedAt()),
        changedAt,
        payBy(record.status(), changedAt, paymentTimeout));
  }

  private static @Nullable Instant payBy(
      OrderStatus status, Instant confirmedAt, PaymentTimeout paymentTimeout) {
    return status == OrderStatus.CONFIRMED
        ? paymentTimeout.latest().map(confirmedAt::plus).orElse(null)
        : null;
  }

  String json() {
    return JSON.writeValueAsString(this);
  }
}
