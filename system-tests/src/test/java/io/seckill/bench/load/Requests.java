package io.seckill.bench.load;

import io.seckill.system.shop.Tokens;
import java.nio.charset.StandardCharsets;

/**
 * Whole HTTP requests as bytes, ready to send. Those of one kind have one length as long as their
 * user ids, SKU ids and keys have, so that wrk can find them in a file by counting.
 */
public final class Requests {

  private static final String PURCHASE =
      """
      POST /api/v1/skus/%d/orders HTTP/1.1\r
      Host: 127.0.0.1\r
      Authorization: Bearer %s\r
      Idempotency-Key: %s\r
      Content-Type: application/json\r
      Content-Length: 14\r
      \r
      {"quantity":1}""";

  private static final String STATUS =
      """
      GET /api/v1/orders/%s HTTP/1.1\r
      Host: 127.0.0.1\r
      Authorization: Bearer %s\r
      \r
      """;

  private final Tokens tokens;

  public Requests(Tokens tokens) {
    this.tokens = tokens;
  }

  /** A purchase of one unit, under the key {@link #key}. */
  public byte[] purchase(long userId, long skuId) {
    return bytes(PURCHASE.formatted(skuId, tokens.shopper(userId), key(userId)));
  }

  /** A look at an order by its owner. */
  public byte[] status(long userId, String orderId) {
    return bytes(STATUS.formatted(orderId, tokens.shopper(userId)));
  }

  /** The idempotency key of a user's one purchase: as long as a UUID, which most clients send. */
  public static String key(long userId) {
    return "bench-0000000-0000-0000-%012d".formatted(userId);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
