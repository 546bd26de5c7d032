package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a SKU's sale, as MySQL has them; the message is not trusted for them. The limit,
 * units per user, is meaningless for UNLIMITED.
 */
record SaleRules(long skuId, long priceCents, PurchasePolicy policy, int limit) {

  /** The limit is that of {@code products}, where it is 1 for ONE_PER_USER. */
  static SaleRules of(long skuId, long priceCents, PurchasePolicy policy, int limit) {
    return new SaleRules(
        skuId, priceCents, policy, policy == PurchasePolicy.ONE_PER_USER ? 1 : limit);
  }

  boolean keepsQuota() {
    return policy.keepsQuota();
  }

  /** The rules for an order whose SKU is known to exist. */
  static SaleRules of(Map<Long, SaleRules> rules, OrderMessage order) {
    return Objects.requireNonNull(
        rules.get(order.skuId()), "orders of unknown SKUs are sorted out before");
  }

  /**
   * The reason why an order cannot be stored; null when it can. A sale's policy never changes after
   * its first preheat, so a retry finds the same difference.
   */
  static @Nullable Unstorable unfit(Map<Long, SaleRules> rules, OrderMessage order) {
    SaleRules sale = rules.get(order.skuId());
    if (sale == null) {
      return new Unstorable(
          order, Unfit.UNKNOWN_SKU, "no product that Redis decides: " + order.skuId());
    }
    if (sale.policy() != order.policy()) {
      return new Unstorable(
          order, Unfit.OTHER_POLICY, "says " + order.policy() + ", the product " + sale.policy());
    }
    return null;
  }
}
