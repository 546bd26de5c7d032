package io.seckill.bench.lab;

import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.system.guarantee.SaleOffer;

/**
 * A SKU on sale, or a shard of one, LIMITED to five units a user.
 *
 * @param epoch set by its preheat
 * @param buckets number of buckets of its hashes in Redis; 0 when Redis does not know it
 */
public record BenchSale(long skuId, long stock, long epoch, int buckets) {

  public static final int UNITS_PER_USER = 5;

  /** Returns the sale in the form that the guarantees take. */
  public SaleOffer offer() {
    return new SaleOffer(skuId, PurchasePolicy.LIMITED, UNITS_PER_USER, stock);
  }

  /** The SKU that shoppers buy: of a shard, its SKU. */
  public long soldAs() {
    return Shards.sku(skuId);
  }

  public int partition() {
    return Partition.ofSku(skuId);
  }
}
