package io.seckill.system.guarantee;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;

/**
 * A SKU as a test put it on sale. Guarantees take stock and limit from here and not from the
 * pipeline's own tables, which may be wrong.
 *
 * @param limit units per user (L); 0 for no limit
 * @param stock opening stock + added - withdrawn (S)
 * @param decides MYSQL for a strong sale
 */
public record SaleOffer(long skuId, PurchasePolicy policy, int limit, long stock, Decider decides) {

  /** A sale that Redis decides. */
  public SaleOffer(long skuId, PurchasePolicy policy, int limit, long stock) {
    this(skuId, policy, limit, stock, Decider.REDIS);
  }

  /** The same as a strong sale. */
  public SaleOffer strong() {
    return new SaleOffer(skuId, policy, limit, stock, Decider.MYSQL);
  }

  public boolean isStrong() {
    return decides == Decider.MYSQL;
  }
}
