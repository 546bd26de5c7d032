package io.seckill.system.shop;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A client of one gateway for any number of shoppers. Thread-safe. */
public final class ShopClient {

  private static final Duration MOST_PATIENCE = Duration.ofMinutes(3);
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS);

  private final HttpCalls calls;
  private final ShopTokens tokens;

  public ShopClient(String gatewayUrl, ShopTokens tokens) {
    this.calls = new HttpCalls(gatewayUrl);
    this.tokens = tokens;
  }

  /**
   * @param patience how long a shopper waits for an answer
   */
  public ShopClient(String gatewayUrl, ShopTokens tokens, Duration patience) {
    this.calls = new HttpCalls(gatewayUrl, patience);
    this.tokens = tokens;
  }

  /** As {@link #buyPatiently}. */
  public Answer buy(long userId, long skuId, int quantity, String key) {
    return buyPatiently(userId, skuId, quantity, key).orTimeout(5, TimeUnit.MINUTES).join();
  }

  /**
   * Buys as a patient shopper does: a request that is answered 503, as by a gateway that has just
   * started, or not at all, is retried with the same key, for three minutes at most.
   */
  public CompletableFuture<Answer> buyPatiently(long userId, long skuId, int quantity, String key) {
    long until = System.nanoTime() + MOST_PATIENCE.toNanos();
    return buyPatiently(userId, skuId, quantity, key, until);
  }

  private CompletableFuture<Answer> buyPatiently(
      long userId, long skuId, int quantity, String key, long untilNanos) {
    CompletableFuture<Answer> attempt = buyAsync(userId, skuId, quantity, key);
    return attempt
        .handle((answer, failure) -> answer != null && answer.status() != 503)
        .thenCompose(
            decided ->
                decided || System.nanoTime() - untilNanos > 0
                    ? attempt
                    : CompletableFuture.runAsync(() -> {}, LATER)
                        .thenCompose(
                            again -> buyPatiently(userId, skuId, quantity, key, untilNanos)));
  }

  /** A purchase that is part of a trace. */
  public Answer buyTraced(long userId, long skuId, int quantity, String key, String traceparent) {
    return calls.post(
        orders(skuId), tokens.shopper(userId), key, purchase(quantity), "traceparent", traceparent);
  }

  /** Sends one purchase request, with any answer. */
  public CompletableFuture<Answer> buyAsync(long userId, long skuId, int quantity, String key) {
    return calls.sendAsync("POST", orders(skuId), tokens.shopper(userId), key, purchase(quantity));
  }

  /** The product page, which anyone may see. */
  public Answer page(long skuId) {
    return calls.send("GET", "/api/v1/skus/" + skuId, tokens.shopper(1), null, null);
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

  /** The newest orders of a shopper. */
  public Answer ordersOf(long userId) {
    return calls.send("GET", "/api/v1/orders", tokens.shopper(userId), null, null);
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
