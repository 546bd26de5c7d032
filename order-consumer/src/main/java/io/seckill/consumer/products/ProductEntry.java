package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.SingleLine;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A product as an operator enters it.
 *
 * @param decides REDIS when absent
 * @param shards 1 when absent
 * @param version of the product that is edited; absent for any, or to create it
 */
record ProductEntry(
    String name,
    Long priceCents,
    Long stock,
    String policy,
    @Nullable Long limitPerUser,
    @Nullable String decides,
    String opensAt,
    String closesAt,
    @Nullable Long shards,
    @Nullable Long version) {

  private static final int MAX_NAME = 200;
  private static final long MAX_PRICE_CENTS = 1_000_000_000_000L;
  private static final long MAX_STOCK = 1_000_000_000L;
  private static final int MAX_LIMIT = 10_000;

  private static final Instant EARLIEST = Instant.parse("2000-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("2100-01-01T00:00:00Z");

  ProductEntry {
    name = SingleLine.checked("name", name, MAX_NAME);
    RequestChecks.integer("priceCents", priceCents, 0, MAX_PRICE_CENTS);
    RequestChecks.integer("stock", stock, 0, MAX_STOCK);
  }

  /** Throws ProblemException 400 naming the first member that is out of bounds. */
  ProductRules rules() {
    PurchasePolicy bought = RequestChecks.oneOf("policy", policy, PurchasePolicy.class);
    int limit = limit(bought);
    Instant opening = instant("opensAt", opensAt);
    Instant closing = instant("closesAt", closesAt);
    if (!opening.isBefore(closing)) {
      throw ProblemException.invalid("closesAt", "closesAt must be after opensAt.");
    }
    return new ProductRules(
        name, priceCents, stock, bought, limit, decider(), opening, closing, shardCount());
  }

  private int shardCount() {
    long count = shards == null ? 1 : shards;
    if (!Shards.isCount(count)) {
      throw ProblemException.invalid("shards", "shards must be 1, 2, 4, 8 or 16.");
    }
    return (int) count;
  }

  private Decider decider() {
    return decides == null ? Decider.REDIS : RequestChecks.oneOf("decides", decides, Decider.class);
  }

  private int limit(PurchasePolicy bought) {
    return switch (bought) {
      case ONE_PER_USER -> only(1, bought);
      case UNLIMITED -> only(0, bought);
      case LIMITED -> (int) RequestChecks.integer("limitPerUser", limitPerUser, 1, MAX_LIMIT);
    };
  }

  private int only(int limit, PurchasePolicy bought) {
    if (limitPerUser != null && limitPerUser != limit) {
      throw ProblemException.invalid(
          "limitPerUser", "limitPerUser must be " + limit + ", or absent, for " + bought + ".");
    }
    return limit;
  }

  private static Instant instant(String field, @Nullable String text) {
    try {
      if (text != null && text.endsWith("Z")) {
        Instant instant = Instant.parse(text);
        if (instant.equals(instant.truncatedTo(ChronoUnit.MILLIS))
            && !instant.isBefore(EARLIEST)
            && instant.isBefore(LATEST)) {
          return instant;
        }
      }
    } catch (DateTimeException e) {
      // refused below, as other invalid texts are
    }
    throw ProblemException.invalid(
        field,
        field + " must be a UTC time such as 2026-11-21T10:00:00Z, with at most milliseconds.");
  }
}
