package io.seckill.gateway.admin;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.backends.ProductEdit;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.SingleLine;
import io.seckill.support.web.StrictJson;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** The body of a product upsert as received; {@link #checked} validates it. */
record ProductBody(
    @Nullable String name,
    @Nullable Long priceCents,
    @Nullable Long stock,
    @Nullable String policy,
    @Nullable Long limitPerUser,
    @Nullable String opensAt,
    @Nullable String closesAt) {

  private static final int MAX_NAME = 200;
  private static final long MAX_PRICE_CENTS = 1_000_000_000_000L;
  private static final long MAX_STOCK = 1_000_000_000L;
  private static final long MAX_LIMIT = 10_000;
  private static final Instant EARLIEST = Instant.parse("2000-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("2100-01-01T00:00:00Z");

  /**
   * @throws ProblemException 400 naming the first member that is out of bounds
   */
  static ProductEdit checked(byte[] json) {
    ProductBody body = StrictJson.read(json, ProductBody.class);
    String name = SingleLine.checked("name", body.name, MAX_NAME);
    long priceCents = integer("priceCents", body.priceCents, MAX_PRICE_CENTS);
    long stock = integer("stock", body.stock, MAX_STOCK);
    PurchasePolicy policy = policy(body.policy);
    int limit = limit(policy, body.limitPerUser);
    Instant opensAt = instant("opensAt", body.opensAt);
    Instant closesAt = instant("closesAt", body.closesAt);
    if (!opensAt.isBefore(closesAt)) {
      throw ProblemException.invalid("closesAt", "closesAt must be after opensAt.");
    }
    return new ProductEdit(name, priceCents, stock, policy, limit, opensAt, closesAt);
  }

  private static long integer(String field, @Nullable Long value, long max) {
    if (value == null || value < 0 || value > max) {
      throw ProblemException.invalid(field, field + " must be an integer from 0 to " + max + ".");
    }
    return value;
  }

  private static PurchasePolicy policy(@Nullable String name) {
    for (PurchasePolicy policy : PurchasePolicy.values()) {
      if (policy.name().equals(name)) {
        return policy;
      }
    }
    throw ProblemException.invalid("policy", "policy must be ONE_PER_USER, LIMITED or UNLIMITED.");
  }

  private static int limit(PurchasePolicy policy, @Nullable Long given) {
    return switch (policy) {
      case ONE_PER_USER -> only(1, given, "ONE_PER_USER");
      case UNLIMITED -> only(0, given, "UNLIMITED");
      case LIMITED -> {
        if (given == null || given < 1 || given > MAX_LIMIT) {
          throw ProblemException.invalid(
              "limitPerUser", "limitPerUser must be 1.." + MAX_LIMIT + " for LIMITED.");
        }
        yield given.intValue();
      }
    };
  }

  private static int only(int limit, @Nullable Long given, String policy) {
    if (given != null && given != limit) {
      throw ProblemException.invalid(
          "limitPerUser", "limitPerUser must be " + limit + ", or absent, for " + policy + ".");
    }
    return limit;
  }

  private static Instant instant(String field, @Nullable String text) {
    try {
      if (text != null && text.endsWith("Z")) {
        Instant instant = Instant.parse(text);
        if (!instant.isBefore(EARLIEST)
            && instant.isBefore(LATEST)
            && instant.equals(instant.truncatedTo(ChronoUnit.MILLIS))) {
          return instant;
        }
      }
    } catch (DateTimeException e) {
      // refused below, like every other invalid text
    }
    throw ProblemException.invalid(
        field,
        field + " must be a UTC time such as 2026-11-21T10:00:00Z, with at most milliseconds.");
  }
}
