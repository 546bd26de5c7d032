package io.seckill.consumer.catalogue;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.OptionalLong;

/**
 * The attributes of a product that an operator sets.
 *
 * @param name 1..200 characters without control characters
 * @param priceCents per unit, 0..10^12, so that an order's sum fits a long
 * @param stock opening stock in units, 0..10^9
 * @param limitPerUser units per user: 1 for ONE_PER_USER, 1..10000 for LIMITED, 0 for UNLIMITED
 * @param opensAt in whole milliseconds, before closesAt
 */
record ProductRules(
    String name,
    long priceCents,
    long stock,
    PurchasePolicy policy,
    int limitPerUser,
    Instant opensAt,
    Instant closesAt) {

  static final int MAX_NAME = 200;
  static final long MAX_PRICE_CENTS = 1_000_000_000_000L;
  static final long MAX_STOCK = 1_000_000_000L;
  static final int MAX_LIMIT = 10_000;

  /**
   * @throws ProblemException 400 naming the first member that is out of bounds
   */
  static ProductRules of(JsonBody body) {
    String name = body.text("name", MAX_NAME);
    long priceCents = body.integer("priceCents", 0, MAX_PRICE_CENTS);
    long stock = body.integer("stock", 0, MAX_STOCK);
    PurchasePolicy policy = body.oneOf("policy", EnumSet.allOf(PurchasePolicy.class));
    int limit = limit(policy, body.optionalInteger("limitPerUser", 0, MAX_LIMIT));
    Instant opensAt = body.instant("opensAt");
    Instant closesAt = body.instant("closesAt");
    body.end();
    if (!opensAt.isBefore(closesAt)) {
      throw ProblemException.invalid("closesAt", "closesAt must be after opensAt.");
    }
    return new ProductRules(name, priceCents, stock, policy, limit, opensAt, closesAt);
  }

  private static int limit(PurchasePolicy policy, OptionalLong given) {
    return switch (policy) {
      case ONE_PER_USER -> only(1, given, "1, or absent, for ONE_PER_USER");
      case UNLIMITED -> only(0, given, "0, or absent, for UNLIMITED");
      case LIMITED -> {
        if (given.isEmpty() || given.getAsLong() == 0) {
          throw unfit("1.." + MAX_LIMIT + " for LIMITED");
        }
        yield (int) given.getAsLong();
      }
    };
  }

  private static int only(int value, OptionalLong given, String otherwise) {
    if (given.isPresent() && given.getAsLong() != value) {
      throw unfit(otherwise);
    }
    return value;
  }

  private static ProblemException unfit(String must) {
    return ProblemException.invalid("limitPerUser", "limitPerUser must be " + must + ".");
  }
}
