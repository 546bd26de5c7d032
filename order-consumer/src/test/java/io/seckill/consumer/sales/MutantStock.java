package io.seckill.consumer.sales;

import io.seckill.consumer.products.ProductSnapshot;

/** What stock changes must never do; a mutation calls it instead of the method of the same name. */
public final class MutantStock {

  private MutantStock() {}

  /** As if the units of a shard came from nowhere and went there. */
  static boolean isPooled(DatabaseStock stock, StockChange change) {
    return true;
  }

  /** As if no sale was ever loaded again. */
  static long epoch(ProductSnapshot sale) {
    return 1;
  }
}
