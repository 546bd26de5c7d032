package io.seckill.consumer.products;

import io.seckill.common.sale.Shards;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.List;

/** The row of a SKU with those of its shards. */
public final class SkuRows {

  private SkuRows() {}

  /**
   * The row of a SKU with the units of its shards, all of one moment.
   *
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  public static ProductRow read(Products products, long skuId) {
    Product sku = products.findBySkuId(skuId).orElseThrow(Product::unknown);
    List<Long> ids = new ArrayList<>(sku.shardIds());
    if (ids.isEmpty()) {
      return sku.row();
    }
    ids.add(skuId);
    return whole(products.findBySkuIdInOrderBySkuId(ids).stream().map(Product::row).toList());
  }

  /**
   * The same, of rows that were read.
   *
   * @param rows the SKU's own row first
   */
  public static ProductRow whole(List<ProductRow> rows) {
    return rows.get(0).withUnitsOf(rows.subList(1, rows.size()));
  }

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
