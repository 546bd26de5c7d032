package io.seckill.system.shop;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A crowd of shoppers before one gateway. Thread-safe. */
public final class ShopClient {

  private final HttpCalls calls;
  private final Tokens tokens;

  public ShopClient(String gatewayUrl, Tokens tokens) {
    this.calls = new HttpCalls(gatewayUrl);
    this.tokens = tokens;
  }

  /**
   * @param patience how long a shopper waits for an answer
   */
  public ShopClient(String gatewayUrl, Tokens tokens, Duration patience) {
    this.calls = new HttpCalls(gatewayUrl, patience);
    this.tokens = tokens;
  }

  public Answer buy(long userId, long skuId, int quantity, String key) {
    return calls.send("POST", orders(skuId), tokens.shopper(userId), key, purchase(quantity));
  }

  /** A purchase that is part of a trace. */
  public Answer buyTraced(long userId, long skuId, int quantity, String key, String traceparent) {
    return calls.post(
        orders(skuId), tokens.shopper(userId), key, purchase(quantity), "traceparent", traceparent);
  }

  public CompletableFuture<Answer> buyAsync(long userId, long skuId, int quantity, String key) {
    return calls.sendAsync("POST", orders(skuId), tokens.shopper(userId), key, purchase(quantity));
  }

  public CompletableFuture<Answer> payAsync(long userId, String orderId) {
    return calls.sendAsync("POST", order(orderId) + "/payment", tokens.shopper(userId), null, "{}");
  }

  public CompletableFuture<Answer> cancelAsync(long userId, String orderId) {
    return calls.sendAsync("DELETE", order(orderId), tokens.shopper(userId), null, null);
  }

  public CompletableFuture<Answer> orderAsync(long userId, String orderId) {
    return calls.sendAsync("GET", order(orderId), tokens.shopper(userId), null, null);
  }

  public Answer order(long userId, String orderId) {
    return calls.send("GET", order(orderId), tokens.shopper(userId), null, null);
  }

  public Answer pay(long userId, String orderId) {
    return calls.send("POST", order(orderId) + "/payment", tokens.shopper(userId), null, "{}");
  }

  public Answer cancel(long userId, String orderId) {
    return calls.send("DELETE", order(orderId), tokens.shopper(userId), null, null);
  }

  private static String orders(long skuId) {
    return "/api/v1/skus/" + skuId + "/orders";
  }

  private static String order(String orderId) {
    return "/api/v1/orders/" + orderId;
  }

  private static String purchase(int quantity) {
    return "{\"quantity\":" + quantity + "}";
  }
}
