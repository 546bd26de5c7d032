package io.seckill.support.web;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.WholeNumber;
import io.seckill.common.sale.Shards;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * Parses ids in paths, numbers and days in queries. Numbers are written as in JSON: decimal digits,
 * no sign, no leading zero.
 */
public final class PathIds {

  /**
   * A SKU that can never be on sale: every path refuses it, so that it cannot be created, preheated
   * or opened. Only a purchase may name it, and is refused because there is no such SKU.
   */
  public static final long NEVER_ON_SALE = OrderMessage.MAX_SKU_ID;

  private static final int DAY_CHARS = 10;

  private PathIds() {}

  /**
   * @return 1..2^52-1; the ids above are those of shards, which only services name
   * @throws ProblemException 400 naming skuId
   */
  public static long sku(String text) {
    long id = number("skuId", text);
    if (id >= Shards.FIRST_ID) {
      throw ProblemException.invalid("skuId", "skuId must be at most 2^52-1.");
    }
    return id;
  }

  /**
   * Parses an id that a service sends: of a SKU, or of a shard.
   *
   * @throws ProblemException 400 naming skuId
   */
  public static long product(String text) {
    long id = number("skuId", text);
    return Shards.isShard(id) ? id : sku(text);
  }

  /** Throws ProblemException 404 when the text is not an order id, because no order can have it. */
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
   * Parses the query parameter of a day.
   *
   * @param text as in 2026-11-25, of a year from 0 to 9999
   * @throws ProblemException 400 naming the field, also when it is absent
   */
  public static LocalDate day(String field, @Nullable String text) {
    try {
      if (text != null && text.length() == DAY_CHARS) {
        return LocalDate.parse(text);
      }
    } catch (DateTimeParseException e) {
      // refused below
    }
    throw ProblemException.invalid(field, field + " must be a day, as in 2026-11-25.");
  }

  /**
   * @return 1..2^63-1
   * @throws ProblemException 400 naming the field
   */
  public static long number(String field, String text) {
    long number = WholeNumber.positive(text);
    if (number == 0) {
      throw ProblemException.invalid(field, field + " must be a whole number from 1.");
    }
    return number;
  }
}
