package io.seckill.consumer.loading;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ProductSnapshot;

/** What a loading must never do; a mutation calls it instead of the method of the same name. */
public final class MutantLoading {

  private MutantLoading() {}

  /** Forgets what was sold when a sale returns from a fallback. */
  static long stock(ProductSnapshot sale) {
    return sale.phase() == SalePhase.RETURNING ? sale.initialStock() : sale.stock();
  }
}
