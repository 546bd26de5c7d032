package io.seckill.gateway.web;

import io.seckill.common.order.OrderMessage;
import java.util.regex.Pattern;

/** Reads ids in paths: decimal digits, no sign, no leading zero. */
public final class PathIds {

  /**
   * A SKU that can never be on sale: every path refuses it, so that it cannot be created, preheated
   * or opened. Only a purchase may name it, and is refused because there is no such SKU.
   */
  public static final long NEVER_ON_SALE = OrderMessage.MAX_SKU_ID;

  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");

  private PathIds() {}

  /**
   * @return 1..2^53-2
   * @throws ProblemException 400 naming skuId
   */
  public static long sku(String text) {
    long id = number("skuId", text);
    if (id >= NEVER_ON_SALE) {
      throw ProblemException.invalid("skuId", "skuId must be at most 2^53-2.");
    }
    return id;
  }

  /**
   * @throws ProblemException 400 naming the field
   */
  public static long number(String field, String text) {
    if (!NUMBER.matcher(text).matches()) {
      throw ProblemException.invalid(field, field + " must be a whole number from 1.");
    }
    return Long.parseLong(text);
  }
}
