package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import java.util.Map;

/**
 * What MySQL has of some buckets' users.
 *
 * @param orders by order id, as records
 * @param aliases second ids of those orders
 * @param quotas user to units, without zeros
 * @param giveBacks of the sale's epoch, by order id
 */
record LedgerPart(
    Map<OrderId, AdmissionRecord> orders,
    Map<OrderId, AdmissionRecord> aliases,
    Map<Long, Long> quotas,
    Map<OrderId, GivenUnits> giveBacks) {

  /**
   * Units of one give-back.
   *
   * @param owedAt Unix ms by MySQL's clock
   */
  record GivenUnits(long userId, long stock, long quota, long owedAt) {}
}
