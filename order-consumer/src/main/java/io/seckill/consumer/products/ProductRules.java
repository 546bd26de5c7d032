package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import java.time.Instant;

/**
 * The attributes of a product that an operator sets.
 *
 * @param name 1..200 characters without control characters
 * @param priceCents per unit, 0..10^12, so that an order's sum fits a long
 * @param stock opening stock in units, 0..10^9; of a stored product with all changes
 * @param limitPerUser units per user: 1 for ONE_PER_USER, 1..10000 for LIMITED, 0 for UNLIMITED
 * @param decides MYSQL for a strong sale
 * @param opensAt in whole milliseconds, before closesAt
 * @param shards 1, 2, 4, 8 or 16
 */
@Embeddable
record ProductRules(
    String name,
    long priceCents,
    @Column(name = "initial_stock") long stock,
    @Enumerated(EnumType.STRING) PurchasePolicy policy,
    int limitPerUser,
    @Enumerated(EnumType.STRING) Decider decides,
    Instant opensAt,
    Instant closesAt,
    int shards) {

  ProductRules with(Decider decider) {
    return new ProductRules(
        name, priceCents, stock, policy, limitPerUser, decider, opensAt, closesAt, shards);
  }

  /** The rules of a shard with this many units of the SKU's stock. */
  ProductRules ofShard(long units) {
    return new ProductRules(
        name, priceCents, units, policy, limitPerUser, decides, opensAt, closesAt, 1);
  }

  /** Throws ProblemException 400 for a strong sale in shards. */
  void refuseStrongShards() {
    if (shards > 1 && decides == Decider.MYSQL) {
      throw ProblemException.invalid("shards", "A sale that MySQL decides has no shards.");
    }
  }

  /** Throws ProblemException 409 IMMUTABLE_AFTER_PREHEAT naming the member that may not change. */
  void refuseImmutable(ProductRules wanted) {
    refuse(priceCents != wanted.priceCents, "priceCents", "cannot change");
    refuse(stock != wanted.stock, "stock", "changes only through /stock");
    refuse(policy != wanted.policy, "policy", "cannot change");
    refuse(limitPerUser != wanted.limitPerUser, "limitPerUser", "cannot change");
    refuse(decides != wanted.decides, "decides", "cannot change");
    refuse(!opensAt.equals(wanted.opensAt), "opensAt", "cannot change");
    refuse(shards != wanted.shards, "shards", "cannot change");
    refuse(wanted.closesAt.isBefore(closesAt), "closesAt", "can only move to later");
  }

  private static void refuse(boolean changed, String field, String rule) {
    if (changed) {
      throw ProblemException.ofField(
          ProblemCode.IMMUTABLE_AFTER_PREHEAT,
          field + " " + rule + " after the first preheat.",
          field);
    }
  }
}
