package io.seckill.consumer.orders;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.RejectReason;
import org.jspecify.annotations.Nullable;

/**
 * The result of one order, as written to Redis.
 *
 * @param reason only with REJECTED, and then required unless the order is an alias
 * @param storedOrderId the order stored in MySQL for the same request, when this one is its alias
 * @param changedAt MySQL's time of the result, Unix ms; null for one that is made now
 */
public record OrderResult(
    OrderId orderId,
    long skuId,
    long userId,
    OrderStatus status,
    @Nullable RejectReason reason,
    @Nullable OrderId storedOrderId,
    @Nullable Long changedAt) {

  public static OrderResult of(OrderId orderId, long skuId, long userId, OrderStatus status) {
    return new OrderResult(orderId, skuId, userId, status, null, null, null);
  }

  /** The result that a record has, with its time. */
  public static OrderResult of(OrderId orderId, long skuId, AdmissionRecord record) {
    return new OrderResult(
        orderId,
        skuId,
        record.userId(),
        record.status(),
        record.reason(),
        record.storedOrderId(),
        record.changedAt());
  }

  public static OrderResult rejected(
      OrderId orderId, long skuId, long userId, RejectReason reason) {
    return new OrderResult(orderId, skuId, userId, OrderStatus.REJECTED, reason, null, null);
  }

  public static OrderResult alias(OrderId orderId, long skuId, long userId, OrderId stored) {
    return new OrderResult(orderId, skuId, userId, OrderStatus.REJECTED, null, stored, null);
  }

  /** The letters for status and reason, as in the admission record. */
  String code() {
    return AdmissionRecord.result(status, reason, storedOrderId);
  }
}
