package io.seckill.system;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import tools.jackson.databind.JsonNode;

/**
 * A SKU that is sold in shards, one unit to each shopper, until none is left. Each shard is judged
 * as the sale that it is, and the SKU by its ledger. One run, one thread.
 */
public final class ShardedSale {

  private static final String KEY = "in-shards";

  private final long skuId;
  private final int shards;
  private final long stock;
  private final Purchases purchases = new Purchases();

  public ShardedSale(long skuId, int shards, long stock) {
    this.skuId = skuId;
    this.shards = shards;
    this.stock = stock;
  }

  public void open(AdminClient admin) {
    assertThat(admin.putShardedSku(skuId, PurchasePolicy.ONE_PER_USER, 1, stock, shards).status())
        .isEqualTo(201);
    assertThat(admin.preheat(skuId).status()).isEqualTo(200);
    assertThat(admin.open(skuId).status()).isEqualTo(200);
  }

  /** The first users whose shard is accepted. */
  public List<Long> users(int count, LongPredicate shard) {
    return LongStream.iterate(1, user -> user + 1)
        .filter(user -> shard.test(Shards.of(user, shards)))
        .limit(count)
        .boxed()
        .toList();
  }

  /** Each user buys, all at once; one who is not decided tries again. */
  public List<CompletableFuture<Answer>> buy(List<ShopClient> shops, List<Long> users) {
    return buy(shops, users, (shop, user) -> shop.buyPatiently(user, skuId, 1, KEY));
  }

  /** Each user buys once, all at once. */
  public List<CompletableFuture<Answer>> buyOnce(List<ShopClient> shops, List<Long> users) {
    return buy(shops, users, (shop, user) -> shop.buyAsync(user, skuId, 1, KEY));
  }

  private List<CompletableFuture<Answer>> buy(
      List<ShopClient> shops,
      List<Long> users,
      BiFunction<ShopClient, Long, CompletableFuture<Answer>> purchase) {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (long user : users) {
      long bought = Shards.purchased(skuId, user, shards);
      purchases.attempt(bought, user, KEY, 1);
      long sentAtMs = System.currentTimeMillis();
      answers.add(
          purchase
              .apply(shops.get((int) (user % shops.size())), user)
              .whenComplete((answer, failure) -> note(bought, user, sentAtMs, answer)));
    }
    return answers;
  }

  private void note(long bought, long user, long sentAtMs, Answer answer) {
    if (answer != null && answer.status() == 202) {
      purchases.accepted(bought, user, KEY, answer.text("orderId"));
    } else if (answer != null && answer.status() != 503 && !answer.code().equals("PAUSED")) {
      long now = System.currentTimeMillis();
      purchases.refused(bought, user, KEY, answer.code(), sentAtMs, now);
    }
  }

  /** How many there are of each answer: of the status 202, and of each problem code. */
  public static Map<String, Integer> codes(List<CompletableFuture<Answer>> answers) {
    Map<String, Integer> codes = new HashMap<>();
    for (CompletableFuture<Answer> each : answers) {
      Answer answer = each.orTimeout(5, TimeUnit.MINUTES).join();
      codes.merge(answer.status() == 202 ? "202" : answer.code(), 1, Integer::sum);
    }
    return codes;
  }

  /** Waits until every unit is sold and stored, then judges. */
  public void judgeSoldOut(AdminClient admin, SaleReader sales) throws SQLException {
    assertThat(judge(admin, sales, stock)).as("units sold").isEqualTo(stock);
  }

  /**
   * Waits until nothing is on its way, then judges.
   *
   * @param units put on sale, with all changes
   * @return units sold
   */
  public long judge(AdminClient admin, SaleReader sales, long units) throws SQLException {
    JsonNode ledger =
        eventually().until(() -> admin.ledger(skuId).json(), read -> isAtRest(read, units));
    for (JsonNode shard : ledger.path("shards")) {
      SaleAtRest sale =
          sales.read(
              new SaleOffer(
                  shard.path("skuId").asLong(), PurchasePolicy.ONE_PER_USER, 1, putOnSale(shard)));
      Guarantee.all().forEach(guarantee -> guarantee.judge(sale, purchases));
    }
    return ledger.path("units").path("confirmed").asLong();
  }

  private static boolean isAtRest(JsonNode ledger, long total) {
    JsonNode units = ledger.path("units");
    return ledger.path("balanced").asBoolean()
        && putOnSale(ledger) == total
        && units.path("confirmed").asLong() + units.path("stock").asLong() == total;
  }

  private static long putOnSale(JsonNode ledger) {
    JsonNode units = ledger.path("units");
    return units.path("initial").asLong()
        + units.path("added").asLong()
        - units.path("withdrawn").asLong();
  }
}
