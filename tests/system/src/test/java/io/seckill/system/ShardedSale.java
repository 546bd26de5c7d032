package io.seckill.system;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.RefusalsAreTrue;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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
  private final SaleOffer offer;
  private final Purchases purchases = new Purchases();

  public ShardedSale(long skuId, int shards, long stock) {
    this.skuId = skuId;
    this.offer = new SaleOffer(skuId, PurchasePolicy.ONE_PER_USER, 1, stock).inShards(shards);
  }

  public void open(AdminClient admin) {
    admin.sellInShards(skuId, offer.policy(), offer.limit(), offer.stock(), offer.shards());
  }

  /** The first users whose shard is accepted. */
  public List<Long> users(int count, LongPredicate shard) {
    return LongStream.iterate(1, user -> user + 1)
        .filter(user -> shard.test(Shards.of(user, offer.shards())))
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
      purchases.attempt(skuId, user, KEY, 1);
      long sentAtMs = System.currentTimeMillis();
      answers.add(
          purchase
              .apply(shops.get((int) (user % shops.size())), user)
              .whenComplete((answer, failure) -> note(user, sentAtMs, answer)));
    }
    return answers;
  }

  private void note(long user, long sentAtMs, Answer answer) {
    if (answer != null && isYes(answer)) {
      purchases.accepted(skuId, user, KEY, answer.text("orderId"));
    } else if (answer != null && answer.status() != 503 && !answer.code().equals("PAUSED")) {
      long now = System.currentTimeMillis();
      purchases.refused(skuId, user, KEY, answer.code(), sentAtMs, now);
    }
  }

  /** Notes that all orders have expired that were accepted until now. */
  public void expired() {
    purchases.acceptedOrders().forEach(order -> purchases.ended(order, "EXPIRED"));
  }

  /** How many there are of each answer: of the statuses 202 and 201, and of each problem code. */
  public static Map<String, Integer> codes(List<CompletableFuture<Answer>> answers) {
    Map<String, Integer> codes = new HashMap<>();
    for (CompletableFuture<Answer> each : answers) {
      Answer answer = each.orTimeout(5, TimeUnit.MINUTES).join();
      codes.merge(isYes(answer) ? "" + answer.status() : answer.code(), 1, Integer::sum);
    }
    return codes;
  }

  private static boolean isYes(Answer answer) {
    return answer.status() == 202 || answer.status() == 201;
  }

  /** Waits until every unit is sold and stored, then judges. */
  public void judgeSoldOut(AdminClient admin, SaleReader sales) throws SQLException {
    assertThat(judge(admin, sales, offer.stock())).as("units sold").isEqualTo(offer.stock());
  }

  /**
   * Waits until nothing is on its way, then judges.
   *
   * @param units put on sale, with all changes
   * @return units sold
   */
  public long judge(AdminClient admin, SaleReader sales, long units) throws SQLException {
    return judge(admin, sales, units, Guarantee.all());
  }

  /** As {@link #judge}, after Redis has lost a shard. */
  public long judgeRebuilt(AdminClient admin, SaleReader sales, long units) throws SQLException {
    List<Guarantee> guarantees = new ArrayList<>(Guarantee.afterFallback());
    guarantees.add(new RefusalsAreTrue());
    return judge(admin, sales, units, guarantees);
  }

  private long judge(AdminClient admin, SaleReader sales, long units, List<Guarantee> guarantees)
      throws SQLException {
    Instant asked = Instant.now(); // a ledger that was read before may lack the last purchases
    JsonNode ledger =
        eventually().until(() -> admin.ledger(skuId).json(), read -> isAtRest(read, units, asked));
    SaleOffer changed =
        new SaleOffer(skuId, offer.policy(), offer.limit(), units).inShards(offer.shards());
    AtomicReference<List<SaleAtRest>> before = new AtomicReference<>();
    List<SaleAtRest> rest = // the relay removes orders after they are stored, and units may move
        eventually()
            .until(
                () -> sales.readAll(changed),
                read ->
                    read.equals(before.getAndSet(read))
                        && read.stream()
                            .allMatch(
                                one ->
                                    one.outboxed() + one.inPrivateQueues() == 0
                                        && !one.compensations().containsValue(false)));
    List<String> complaints = new ArrayList<>();
    for (SaleAtRest sale : rest) {
      guarantees.forEach(guarantee -> guarantee.judge(sale, purchases, complaints));
      new LedgerBalances(admin).judge(sale, purchases, complaints);
    }
    assertThat(complaints).isEmpty();
    return ledger.path("units").path("confirmed").asLong();
  }

  private static boolean isAtRest(JsonNode ledger, long total, Instant asked) {
    JsonNode units = ledger.path("units");
    return ledger.path("balanced").asBoolean()
        && !Instant.parse(ledger.path("readAt").asString()).isBefore(asked)
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
