package io.seckill.consumer.store;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import java.util.Map;

/**
 * What MySQL says about the sale of a SKU; the message's word is not taken for it.
 *
 * @param limit units per user; meaningless for UNLIMITED
 */
record SaleRules(long skuId, long priceCents, PurchasePolicy policy, int limit) {

  boolean keepsQuota() {
    return policy.keepsQuota();
  }

  /** The terms of an order whose SKU is known to be there. */
  static SaleRules of(Map<Long, SaleRules> terms, OrderMessage order) {
    SaleRules found = terms.get(order.skuId());
    if (found == null) {
      throw new IllegalStateException("orders of unknown SKUs are sorted out before");
    }
    return found;
  }
}
