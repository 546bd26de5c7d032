package io.seckill.system.shop;

import java.util.concurrent.CompletableFuture;

/** A crowd of shoppers before one gateway. Thread-safe. */
public final class ShopClient {

  private final HttpCalls calls;
  private final Tokens tokens;

  public ShopClient(String gatewayUrl, Tokens tokens) {
    this.calls = new HttpCalls(gatewayUrl);
    this.tokens = tokens;
  }

  public Answer buy(long userId, long skuId, int quantity, String key) {
    return calls.send("POST", orders(skuId), tokens.shopper(userId), key, purchase(quantity));
  }

  public CompletableFuture<Answer> buyAsync(long userId, long skuId, int quantity, String key) {
    return calls.sendAsync("POST", orders(skuId), tokens.shopper(userId), key, purchase(quantity));
  }

  public Answer order(long userId, String orderId) {
    return calls.send("GET", "/api/v1/orders/" + orderId, tokens.shopper(userId), null, null);
  }

  public Answer pay(long userId, String orderId) {
    return calls.send(
        "POST", "/api/v1/orders/" + orderId + "/payment", tokens.shopper(userId), null, "{}");
  }

  public Answer cancel(long userId, String orderId) {
    return calls.send("DELETE", "/api/v1/orders/" + orderId, tokens.shopper(userId), null, null);
  }

  private static String orders(long skuId) {
    return "/api/v1/skus/" + skuId + "/orders";
  }

  private static String purchase(int quantity) {
    return "{\"quantity\":" + quantity + "}";
  }
}
