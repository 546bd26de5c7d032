package io.seckill.consumer.products;

import io.seckill.common.sale.Shards;
import java.util.ArrayList;
import java.util.List;

/** The row of a SKU with those of its shards. */
public final class SkuRows {

  private SkuRows() {}

  /**
   * Locks the row of the SKU and then those of its shards, in the order of ids, until the caller's
   * transaction ends.
   *
   * @param id of the SKU, or of one of its shards
   * @return the SKU's own row first; empty if there is none
   */
  public static List<Product> lock(Products products, long id) {
    List<Product> rows = new ArrayList<>();
    products
        .lock(Shards.sku(id))
        .ifPresent(
            sku -> {
              rows.add(sku);
              sku.shardIds().forEach(shard -> rows.add(products.lock(shard).orElseThrow()));
            });
    return rows;
  }
}
