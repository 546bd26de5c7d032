package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import java.util.Map;

/**
 * The rows of the users of some buckets.
 *
 * @param orders by order id, as records
 * @param aliases second ids of those orders, as records without a request
 * @param quotas user to units, without zeros
 * @param compensations of the sale's epoch, by order id
 */
public record DatabasePart(
    Map<OrderId, AdmissionRecord> orders,
    Map<OrderId, AdmissionRecord> aliases,
    Map<Long, Long> quotas,
    Map<OrderId, PendingUnits> compensations) {

  /** Units of one compensation; {@code endedAt} is in Unix ms by MySQL's clock. */
  public record PendingUnits(long userId, long stock, long quota, long endedAt) {}
}
