package io.seckill.bench.lab;

import io.seckill.common.order.Partition;

/**
 * A SKU on sale, LIMITED to five units a user.
 *
 * @param epoch as raised by its preheat
 * @param buckets of its hashes in Redis
 */
public record Sale(long skuId, long stock, long epoch, int buckets) {

  public int partition() {
    return Partition.ofSku(skuId);
  }
}
