package io.seckill.gateway.admission;

import io.seckill.common.order.Partition;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to buy; every field lies within the bounds of {@link
 * io.seckill.common.order.OrderMessage}.
 *
 * @param skuId of the SKU, or of the shard that decides the attempt
 * @param keyFromShopper whether the shopper sent the key; a key made by the gateway cannot be a
 *     repeat
 */
record PurchaseAttempt(
    long skuId,
    long userId,
    String requestId,
    boolean keyFromShopper,
    int quantity,
    @Nullable String traceparent) {

  /** The same attempt at another product. */
  PurchaseAttempt at(long otherSkuId) {
    return new PurchaseAttempt(
        otherSkuId, userId, requestId, keyFromShopper, quantity, traceparent);
  }

  int partition() {
    return Partition.ofSku(skuId);
  }
}
