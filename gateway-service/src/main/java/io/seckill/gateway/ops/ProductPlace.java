package io.seckill.gateway.ops;

import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The place of a product in the operators' list. */
record ProductPlace(SaleState state, Instant opensAt, long skuId) {

  /** In the order of the list. */
  static final List<SaleState> STATES =
      List.of(
          SaleState.OPEN, SaleState.PAUSED, SaleState.PREHEATED, SaleState.NEW, SaleState.CLOSED);

  private static final Pattern CURSOR =
      Pattern.compile("([A-Z]{3,9})-([0-9]{1,14})-([1-9][0-9]{0,15})");

  static ProductPlace of(ProductRow product) {
    return new ProductPlace(product.state(), product.opensAt(), product.skuId());
  }

  /** Whether products of this state may follow. */
  boolean isBefore(SaleState other) {
    return STATES.indexOf(state) <= STATES.indexOf(other);
  }

  LocalDateTime opensAtUtc() {
    return LocalDateTime.ofInstant(opensAt, ZoneOffset.UTC);
  }

  String cursor() {
    return state + "-" + opensAt.toEpochMilli() + "-" + skuId;
  }

  /** The place whose cursor this is. Throws ProblemException 400 naming cursor. */
  static ProductPlace ofCursor(String cursor) {
    Matcher parts = CURSOR.matcher(cursor);
    if (parts.matches()) {
      for (SaleState state : STATES) {
        if (state.name().equals(parts.group(1))) {
          return new ProductPlace(
              state,
              Instant.ofEpochMilli(Long.parseLong(parts.group(2))),
              Long.parseLong(parts.group(3)));
        }
      }
    }
    throw ProblemException.invalid("cursor", "cursor must be the next of an earlier page.");
  }
}
