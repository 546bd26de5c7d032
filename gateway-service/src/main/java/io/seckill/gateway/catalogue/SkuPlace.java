package io.seckill.gateway.catalogue;

import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The place of a sale in the list of SKUs, ordered as a shopper looks: what can be bought, soonest
 * end first; what opens, soonest first; what is paused; what is sold out.
 *
 * @param atMs time by which the group is ordered, Unix milliseconds
 */
record SkuPlace(Group group, long atMs, long skuId) implements Comparable<SkuPlace> {

  private static final Pattern CURSOR =
      Pattern.compile("([A-Z_]{4,8})-([0-9]{1,15})-([1-9][0-9]{0,15})");
  private static final Comparator<SkuPlace> ORDER =
      Comparator.comparing(SkuPlace::group)
          .thenComparing(SkuPlace::atMs)
          .thenComparing(SkuPlace::skuId);

  /** The part of the list that a sale belongs to. */
  enum Group {
    ON_SALE,
    COMING,
    PAUSED,
    SOLD_OUT
  }

  /** The parts of the list that can be asked for alone. */
  enum When {
    /** Sales that have opened, also those that are paused or sold out. */
    NOW,
    /** Sales that have not. */
    SOON;

    boolean has(Group group) {
      return (group == Group.COMING) == (this == SOON);
    }
  }

  /**
   * The place at a moment; null when the SKU is not listed: it was never preheated, or its sale is
   * over.
   */
  static @Nullable SkuPlace of(ProductRow product, Instant now) {
    SaleState state = product.state();
    if (state == SaleState.NEW || state == SaleState.CLOSED || !product.closesAt().isAfter(now)) {
      return null;
    }
    boolean begun = state != SaleState.PREHEATED && !product.opensAt().isAfter(now);
    Group group =
        !begun
            ? Group.COMING
            : product.stock() == 0
                ? Group.SOLD_OUT
                : state == SaleState.PAUSED ? Group.PAUSED : Group.ON_SALE;
    Instant at = begun ? product.closesAt() : product.opensAt();
    return new SkuPlace(group, at.toEpochMilli(), product.skuId());
  }

  /** Whether this place follows another; every place follows null. */
  boolean isBehind(@Nullable SkuPlace other) {
    return other == null || compareTo(other) > 0;
  }

  @Override
  public int compareTo(SkuPlace other) {
    return ORDER.compare(this, other);
  }

  String cursor() {
    return group + "-" + atMs + "-" + skuId;
  }

  /** The place whose cursor this is. Throws ProblemException 400 naming cursor. */
  static SkuPlace ofCursor(String cursor) {
    Matcher parts = CURSOR.matcher(cursor);
    if (parts.matches()) {
      for (Group group : Group.values()) {
        if (group.name().equals(parts.group(1))) {
          return new SkuPlace(
              group, Long.parseLong(parts.group(2)), Long.parseLong(parts.group(3)));
        }
      }
    }
    throw ProblemException.invalid("cursor", "cursor must be the next of an earlier page.");
  }
}
