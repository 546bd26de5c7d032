package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;

/**
 * The reply of {@code admit.lua} for a SKU with admissions in a call.
 *
 * @param seq highest sequence number; the orders of the call have consecutive ones
 * @param units admitted in this epoch, with the orders that Redis was loaded with
 * @param admittedAt Redis's clock, Unix ms
 */
record AdmittedSku(
    long skuId, long epoch, long seq, long units, PurchasePolicy policy, long admittedAt) {

  private static final int PARTS = 6;

  static AdmittedSku parse(String text) {
    String[] part = text.split("\\|", PARTS);
    return new AdmittedSku(
        Long.parseLong(part[0]),
        Long.parseLong(part[1]),
        Long.parseLong(part[2]),
        Long.parseLong(part[3]),
        PurchasePolicy.valueOf(part[4]),
        Long.parseLong(part[5]));
  }

  /** The message that the script has pushed for this attempt, without its traceparent. */
  OrderMessage order(OrderId id, PurchaseAttempt attempt, long itsSeq) {
    return new OrderMessage(
        id,
        attempt.userId(),
        skuId,
        attempt.quantity(),
        attempt.requestId(),
        policy,
        epoch,
        itsSeq,
        admittedAt,
        null);
  }
}
