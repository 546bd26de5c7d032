package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import java.util.Map;

/**
 * The rules of a SKU's sale, as MySQL has them; the message is not trusted for them.
 *
 * @param limit units per user; meaningless for UNLIMITED
 */
record SaleRules(long skuId, long priceCents, PurchasePolicy policy, int limit) {

  /**
   * @param limit as in the table {@code products}, where it is 1 for ONE_PER_USER
   */
  static SaleRules of(long skuId, long priceCents, PurchasePolicy policy, int limit) {
    return new SaleRules(
        skuId, priceCents, policy, policy == PurchasePolicy.ONE_PER_USER ? 1 : limit);
  }

  boolean keepsQuota() {
    return policy.keepsQuota();
  }

  /** The rules for an order whose SKU is known to exist. */
  static SaleRules of(Map<Long, SaleRules> rules, OrderMessage order) {
    SaleRules found = rules.get(order.skuId());
    if (found == null) {
      throw new IllegalStateException("orders of unknown SKUs are sorted out before");
    }
    return found;
  }
}
