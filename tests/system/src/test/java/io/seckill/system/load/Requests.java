package io.seckill.system.load;

import io.seckill.system.shop.ShopTokens;
import java.nio.charset.StandardCharsets;

/**
 * Whole HTTP requests as bytes, ready to send. Requests of one kind have the same length if their
 * user ids, SKU ids and keys have, so that wrk can locate them in a file by position. Built without
 * a formatter, which would take longer than signing them.
 */
public final class Requests {

  private static final String HOST = " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ";
  private static final String KEY = "\r\nIdempotency-Key: ";
  private static final String BODY =
      "\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"quantity\":1}";
  private static final String NO_BODY = "\r\nContent-Length: 0\r\n\r\n";
  private static final String END = "\r\n\r\n";
  private static final long TWELVE_DIGITS = 1_000_000_000_000L;

  private final ShopTokens tokens;

  public Requests(ShopTokens tokens) {
    this.tokens = tokens;
  }

  /** A purchase of one unit, under the key {@link #key}. */
  public byte[] purchase(long userId, long skuId) {
    return purchase(userId, skuId, key(userId));
  }

  /** A purchase of one unit under this key. */
  public byte[] purchase(long userId, long skuId, String key) {
    return bytes(
        "POST /api/v1/skus/"
            + skuId
            + "/orders"
            + HOST
            + tokens.shopper(userId)
            + KEY
            + key
            + BODY);
  }

  /** A status request for an order by its owner. */
  public byte[] status(long userId, String orderId) {
    return bytes("GET /api/v1/orders/" + orderId + HOST + tokens.shopper(userId) + END);
  }

  /** The payment of an order by its owner. */
  public byte[] payment(long userId, String orderId) {
    return bytes(
        "POST /api/v1/orders/" + orderId + "/payment" + HOST + tokens.shopper(userId) + NO_BODY);
  }

  /** The cancellation of an order by its owner. */
  public byte[] cancellation(long userId, String orderId) {
    return bytes("DELETE /api/v1/orders/" + orderId + HOST + tokens.shopper(userId) + END);
  }

  /** A request for the user's latest orders, as the shop page sends it. */
  public byte[] list(long userId) {
    return bytes("GET /api/v1/orders?limit=8" + HOST + tokens.shopper(userId) + END);
  }

  /** The idempotency key of a user's one purchase: as long as a UUID, which most clients send. */
  public static String key(long userId) {
    return "bench-0000000-0000-0000-" + Long.toString(TWELVE_DIGITS + userId).substring(1);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
