package io.seckill.common.order;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One admitted purchase on its way from Redis to MySQL, version 1.
 *
 * <p>The constructor is the trust boundary: an instance always lies within the bounds below.
 *
 * @param orderId its partition equals that of the SKU
 * @param userId 1..2^63-1
 * @param skuId 1..2^53-1, exact in JSON and Lua numbers
 * @param quantity units, 1..{@value #MAX_QUANTITY}
 * @param requestId idempotency key, 8..64 characters of {@code [A-Za-z0-9_-]}
 * @param policy the SKU's policy when it was admitted
 * @param epoch the sale's epoch when it was admitted, 1..{@value #MAX_COUNT}
 * @param seq sequence number of the admission within the SKU, 1..{@value #MAX_COUNT}
 * @param admittedAt Redis's clock, Unix ms, up to the end of the year 9999, as MySQL has it
 * @param traceparent W3C trace context of the purchase, or null when it had none
 */
public record OrderMessage(
    OrderId orderId,
    long userId,
    long skuId,
    int quantity,
    String requestId,
    PurchasePolicy policy,
    long epoch,
    long seq,
    long admittedAt,
    @Nullable String traceparent) {

  public static final int VERSION = 1;

  /** Technical limit of one order, in units; the sale's own limit is lower. */
  public static final int MAX_QUANTITY = 10_000;

  /** The largest integer that a double, and so JSON readers and Lua, represent exactly. */
  public static final long MAX_SKU_ID = (1L << 53) - 1;

  /** 14 digits: {@code admit.lua} reads no more, and Lua prints larger numbers with an exponent. */
  public static final long MAX_COUNT = 99_999_999_999_999L;

  private static final long MAX_TIME = 253_402_300_799_999L;

  public static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9_-]{8,64}");

  /** Version, trace id, parent id and flags in the format of the W3C Trace Context standard. */
  public static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

  /** Throws IllegalArgumentException naming the field that is out of bounds. */
  public OrderMessage {
    check(userId >= 1, "userId", userId);
    check(skuId >= 1 && skuId <= MAX_SKU_ID, "skuId", skuId);
    check(quantity >= 1 && quantity <= MAX_QUANTITY, "quantity", quantity);
    check(REQUEST_ID.matcher(requestId).matches(), "requestId", "not [A-Za-z0-9_-]{8,64}");
    check(epoch >= 1 && epoch <= MAX_COUNT, "epoch", epoch);
    check(seq >= 1 && seq <= MAX_COUNT, "seq", seq);
    check(admittedAt >= 1 && admittedAt <= MAX_TIME, "admittedAt", admittedAt);
    check(
        traceparent == null || TRACEPARENT.matcher(traceparent).matches(),
        "traceparent",
        "not a W3C traceparent");
    check(orderId.partition() == Partition.ofSku(skuId), "orderId", "of another partition");
  }

  private static void check(boolean ok, String field, Object found) {
    if (!ok) {
      throw new IllegalArgumentException(field + " out of bounds: " + found);
    }
  }
}
