package io.seckill.system.shop;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/** An operator's client for one gateway's admin port. Thread-safe. */
public final class AdminClient {

  /** A reconciliation waits until orders in flight have arrived. */
  private static final Duration PATIENCE = Duration.ofMinutes(6);

  private static final Duration OPERATORS_PATIENCE = Duration.ofMinutes(2);

  private final HttpCalls calls;
  private final HttpCalls patient;
  private final ShopTokens tokens;

  public AdminClient(String adminUrl, ShopTokens tokens) {
    this.calls = new HttpCalls(adminUrl);
    this.patient = new HttpCalls(adminUrl, PATIENCE);
    this.tokens = tokens;
  }

  /** Puts a SKU on sale that opened a minute ago and closes in a day. */
  public void sell(long skuId, PurchasePolicy policy, int limit, long stock) {
    sell(skuId, policy, limit, stock, Decider.REDIS);
  }

  /** As {@link #sell(long, PurchasePolicy, int, long)}, a strong sale. */
  public void sellStrong(long skuId, PurchasePolicy policy, int limit, long stock) {
    sell(skuId, policy, limit, stock, Decider.MYSQL);
  }

  /** As {@link #sell(long, PurchasePolicy, int, long)}, a SKU in shards. */
  public void sellInShards(long skuId, PurchasePolicy policy, int limit, long stock, int shards) {
    sell(skuId, policy, limit, stock, Decider.REDIS, shards);
  }

  private void sell(long skuId, PurchasePolicy policy, int limit, long stock, Decider decides) {
    sell(skuId, policy, limit, stock, decides, 1);
  }

  private void sell(
      long skuId, PurchasePolicy policy, int limit, long stock, Decider decides, int shards) {
    Instant now = Instant.now();
    Instant opened = now.minusSeconds(60);
    sell(skuId, policy, limit, stock, decides, shards, opened, now.plus(1, ChronoUnit.DAYS));
  }

  /**
   * Creates a SKU, preheats and opens it. Retries a 503, which a gateway answers while a service is
   * starting or recovering, as an operator does.
   *
   * @throws IllegalStateException with the answer, when a call is refused
   */
  public void sell(
      long skuId,
      PurchasePolicy policy,
      int limit,
      long stock,
      Decider decides,
      int shards,
      Instant opensAt,
      Instant closesAt) {
    insist(() -> putSku(skuId, policy, limit, stock, decides, shards, opensAt, closesAt));
    insist(() -> preheat(skuId));
    insist(() -> open(skuId));
  }

  /**
   * Creates a SKU with a limit of two units per user, which opens then, for a day, and preheats it.
   * Retries as {@link #sell(long, PurchasePolicy, int, long, Decider, int, Instant, Instant)}.
   */
  public void preheatOpeningAt(Instant opensAt, long skuId, long stock) {
    Instant closesAt = opensAt.plus(1, ChronoUnit.DAYS);
    insist(
        () -> putSku(skuId, PurchasePolicy.LIMITED, 2, stock, Decider.REDIS, 1, opensAt, closesAt));
    insist(() -> preheat(skuId));
  }

  private static void insist(Callable<Answer> call) {
    Answer answer =
        Awaitility.await("an operator's call to succeed")
            .atMost(OPERATORS_PATIENCE)
            .pollDelay(Duration.ZERO)
            .until(call, given -> given.status() != 503);
    if (answer.status() >= 300) {
      throw new IllegalStateException("refused: " + answer);
    }
  }

  /** Creates a SKU whose sale opened a minute ago and closes in a day. */
  public Answer putSku(long skuId, PurchasePolicy policy, int limit, long stock) {
    return putSku(skuId, policy, limit, stock, Decider.REDIS);
  }

  public Answer putSku(long skuId, PurchasePolicy policy, int limit, long stock, Decider decides) {
    Instant now = Instant.now();
    Instant opened = now.minusSeconds(60);
    return putSku(skuId, policy, limit, stock, decides, 1, opened, now.plus(1, ChronoUnit.DAYS));
  }

  /** Creates a SKU that is sold in shards, opened a minute ago and closes in a day. */
  public Answer putShardedSku(
      long skuId, PurchasePolicy policy, int limit, long stock, int shards) {
    Instant now = Instant.now();
    Instant opened = now.minusSeconds(60);
    Instant closes = now.plus(1, ChronoUnit.DAYS);
    return putSku(skuId, policy, limit, stock, Decider.REDIS, shards, opened, closes);
  }

  private Answer putSku(
      long skuId,
      PurchasePolicy policy,
      int limit,
      long stock,
      Decider decides,
      int shards,
      Instant opensAt,
      Instant closesAt) {
    String body =
        """
        {"name":"SKU %d","priceCents":1999,"stock":%d,"policy":"%s","limitPerUser":%s,
         "decides":"%s","shards":%d,"opensAt":"%s","closesAt":"%s"}\
        """
            .formatted(
                skuId,
                stock,
                policy,
                policy.keepsQuota() ? Integer.toString(limit) : "null",
                decides,
                shards,
                opensAt.truncatedTo(ChronoUnit.SECONDS),
                closesAt.truncatedTo(ChronoUnit.SECONDS));
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

  /** Begins to archive the sale, or shows how far that is. */
  public Answer archive(long skuId) {
    return patient.send("POST", sku(skuId) + "/archive", tokens.operator(), null, null);
  }

  /** Counts the sale, and says what contradicts something else. */
  public Answer audit(long skuId) {
    return patient.send("POST", sku(skuId) + "/audit", tokens.operator(), null, null);
  }

  public Answer changeStock(long skuId, long delta, String changeId) {
    String body = "{\"delta\":" + delta + ",\"reason\":\"test\"}";
    return calls.send("POST", sku(skuId) + "/stock", tokens.operator(), changeId, body);
  }

  /** Returns where every unit and every order of the SKU is. */
  public Answer ledger(long skuId) {
    return calls.send("GET", sku(skuId) + "/ledger", tokens.operator(), null, null);
  }

  /** The first page of all products. */
  public Answer products() {
    return calls.send("GET", "/admin/v1/skus", tokens.operator(), null, null);
  }

  /** The relays' lanes. */
  public Answer lanes() {
    return calls.send("GET", "/admin/v1/lanes", tokens.operator(), null, null);
  }

  /** Compares Redis with MySQL and repairs Redis; waits for the outcome. */
  public Answer reconcile(long skuId) {
    return reconcile(skuId, false);
  }

  /** Compares Redis with MySQL and repairs Redis, or in a dry run reports the differences. */
  public Answer reconcile(long skuId, boolean dryRun) {
    String body = "{\"dryRun\":" + dryRun + "}";
    return patient.send("POST", sku(skuId) + "/reconciliation", tokens.operator(), null, body);
  }

  /** Who decides now, and what every gateway says of Redis. */
  public Answer fallback() {
    return calls.send("GET", "/admin/v1/fallback", tokens.operator(), null, null);
  }

  /** Lets MySQL decide the sales of Redis. */
  public Answer enterFallback() {
    return calls.send("POST", "/admin/v1/fallback/enter", tokens.operator(), null, null);
  }

  /** Lets Redis decide its sales again. */
  public Answer leaveFallback() {
    return calls.send("POST", "/admin/v1/fallback/leave", tokens.operator(), null, null);
  }

  /** Replays a dead letter. */
  public Answer replay(long deadLetter) {
    String path = "/admin/v1/dead-letters/" + deadLetter + "/replay";
    return calls.send("POST", path, tokens.operator(), null, null);
  }

  /** Pays money into a wallet; a 503 is retried with the same key. */
  public void recharge(long userId, long cents, String key) {
    String path = "/admin/v1/wallets/" + userId + "/recharges";
    String body = "{\"amountCents\":" + cents + "}";
    insist(() -> calls.send("POST", path, tokens.operator(), key, body));
  }

  /** Lets a wallet pay nothing. */
  public Answer freezeWallet(long userId) {
    String path = "/admin/v1/wallets/" + userId + "/state";
    return calls.send("PUT", path, tokens.operator(), null, "{\"state\":\"FROZEN\"}");
  }

  /** Compares all wallets with their entries, charges and orders. */
  public Answer checkWallets() {
    return patient.send("POST", "/admin/v1/wallet/check", tokens.operator(), null, null);
  }

  private Answer post(long skuId, String action) {
    return calls.send("POST", sku(skuId) + "/" + action, tokens.operator(), null, null);
  }

  private static String sku(long skuId) {
    return "/admin/v1/skus/" + skuId;
  }
}
