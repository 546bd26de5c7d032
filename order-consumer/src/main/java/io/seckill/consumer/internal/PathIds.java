package io.seckill.consumer.internal;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import java.util.regex.Pattern;

/** Parses ids in paths, written as in JSON: decimal digits, no sign, no leading zero. */
public final class PathIds {

  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,17}");

  private PathIds() {}

  /**
   * @return 1..2^53-1
   * @throws ProblemException 400 naming skuId
   */
  public static long sku(String text) {
    long id = number("skuId", text);
    if (id > OrderMessage.MAX_SKU_ID) {
      throw ProblemException.invalid("skuId", "skuId must be at most 2^53-1.");
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
      throw ProblemException.notFound(Problem.UNKNOWN_ORDER, "There is no such order.");
    }
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
