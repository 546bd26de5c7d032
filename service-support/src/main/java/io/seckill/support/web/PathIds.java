package io.seckill.support.web;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses ids in paths and numbers in queries, written as in JSON: decimal digits, no sign, no
 * leading zero.
 */
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
   * @throws ProblemException 404 when the text is not an order id, because no order can have it
   */
  public static OrderId order(String text) {
    try {
      return OrderId.parse(text);
    } catch (IllegalArgumentException e) {
      throw ProblemException.of(ProblemCode.UNKNOWN_ORDER);
    }
  }

  /**
   * Parses the query parameter {@code limit}, the most rows of a page.
   *
   * @param otherwise the limit when the parameter is absent
   * @return 1..max
   * @throws ProblemException 400 naming limit
   */
  public static int limit(@Nullable String text, int otherwise, int max) {
    long limit = text == null ? otherwise : number("limit", text);
    if (limit > max) {
      throw ProblemException.invalid("limit", "limit must be 1.." + max + ".");
    }
    return (int) limit;
  }

  /**
   * @return at least 1
   * @throws ProblemException 400 naming the field
   */
  public static long number(String field, String text) {
    if (!NUMBER.matcher(text).matches()) {
      throw ProblemException.invalid(field, field + " must be a whole number from 1.");
    }
    return Long.parseLong(text);
  }
}
