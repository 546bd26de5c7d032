package io.seckill.system.shop;

import io.seckill.common.order.PurchasePolicy;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** One operator before one gateway's admin port. Thread-safe. */
public final class AdminClient {

  private final HttpCalls calls;
  private final Tokens tokens;

  public AdminClient(String adminUrl, Tokens tokens) {
    this.calls = new HttpCalls(adminUrl);
    this.tokens = tokens;
  }

  /** Creates a SKU that is on sale from a minute ago for a day. */
  public Answer putSku(long skuId, PurchasePolicy policy, int limit, long stock) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    String body =
        """
        {"name":"SKU %d","priceCents":1999,"stock":%d,"policy":"%s","limitPerUser":%s,
         "opensAt":"%s","closesAt":"%s"}"""
            .formatted(
                skuId,
                stock,
                policy,
                policy.keepsQuota() ? Integer.toString(limit) : "null",
                now.minusSeconds(60),
                now.plus(1, ChronoUnit.DAYS));
    return calls.send("PUT", sku(skuId), tokens.operator(), null, body);
  }

  public Answer preheat(long skuId) {
    return post(skuId, "preheat");
  }

  public Answer open(long skuId) {
    return post(skuId, "open");
  }

  public Answer pause(long skuId) {
    return post(skuId, "pause");
  }

  public Answer resume(long skuId) {
    return post(skuId, "resume");
  }

  public Answer close(long skuId) {
    return post(skuId, "close");
  }

  public Answer changeStock(long skuId, long delta, String changeId) {
    String body = "{\"delta\":" + delta + ",\"reason\":\"test\"}";
    return calls.send("POST", sku(skuId) + "/stock", tokens.operator(), changeId, body);
  }

  private Answer post(long skuId, String action) {
    return calls.send("POST", sku(skuId) + "/" + action, tokens.operator(), null, null);
  }

  private static String sku(long skuId) {
    return "/admin/v1/skus/" + skuId;
  }
}
