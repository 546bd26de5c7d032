package io.seckill.system.journey;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.Pipeline;
import io.seckill.system.ShardedSale;
import io.seckill.system.SharedPipeline;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.Answer;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Buys over HTTP from the three real processes, then checks the contents of MySQL and Redis. */
@ExtendWith({TestServers.class, SharedPipeline.class})
class PipelineIT {

  private final Pipeline pipeline;
  private final Purchases purchases = new Purchases();
  private SaleOffer offer;

  PipelineIT(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  @AfterEach
  void noServiceAskedForMoreThanItsRedisUserMay() {
    assertThat(pipeline.refusedByRedis()).as("rights missing in deploy/redis/users.acl").isEmpty();
  }

  @Test
  void sellsALimitedSkuUpToEachUsersLimit() throws SQLException {
    onSale(1001, PurchasePolicy.LIMITED, 5, 1_000);
    Map<String, Integer> codes = new HashMap<>();
    for (int purchase = 0; purchase < 4; purchase++) {
      buy(1001, 40, 2, "limited-" + purchase)
          .forEach((code, n) -> codes.merge(code, n, Integer::sum));
    }

    assertThat(codes).isEqualTo(Map.of("202", 80, "QUOTA_EXCEEDED", 80));
    assertThat(atRest(1001, 80).ownedUnits()).isEqualTo(160);
  }

  @Test
  void sellsAOnePerUserSkuOnceToEachOfAHundredAndTellsTheOthersWhy() throws SQLException {
    onSale(1002, PurchasePolicy.ONE_PER_USER, 1, 100);

    Map<String, Integer> codes = buy(1002, 300, 1, "one-per-user");

    assertThat(codes).isEqualTo(Map.of("202", 100, "SOLD_OUT", 200));
    assertThat(atRest(1002, 100).mysqlStock()).isZero();
  }

  @Test
  void sellsAnUnlimitedSkuToOneUserAgainAndAgain() throws SQLException {
    onSale(1003, PurchasePolicy.UNLIMITED, 0, 1_000);
    for (int purchase = 0; purchase < 10; purchase++) {
      assertThat(buy(1003, 1, 7, "unlimited-" + purchase)).isEqualTo(Map.of("202", 1));
    }

    assertThat(atRest(1003, 10).ownedUnits()).isEqualTo(70);
  }

  @Test
  void answersARepeatWithTheSameOrderAndTakesNothing() throws SQLException {
    onSale(1004, PurchasePolicy.LIMITED, 5, 50);
    purchases.attempt(1004, 7, "the-same-key", 2);
    String first = pipeline.shop().buy(7, 1004, 2, "the-same-key").text("orderId");
    purchases.accepted(1004, 7, "the-same-key", first);

    assertThat(pipeline.shop().buy(7, 1004, 2, "the-same-key").text("orderId")).isEqualTo(first);
    assertThat(pipeline.shop().buy(7, 1004, 3, "the-same-key").code())
        .isEqualTo("IDEMPOTENCY_KEY_REUSED");
    assertThat(atRest(1004, 1).ownedUnits()).isEqualTo(2);
  }

  @Test
  void showsTheOwnerHowHisOrderSettlesAndNobodyElse() {
    onSale(1005, PurchasePolicy.LIMITED, 5, 50);
    String order =
        eventually()
            .until(
                () -> pipeline.shop().buy(11, 1005, 1, "watched-order"),
                sold -> sold.status() == 202)
            .text("orderId");

    eventually().until(() -> pipeline.shop().order(11, order).text("status"), "CONFIRMED"::equals);
    assertThat(eventually().until(() -> pipeline.shop().order(12, order).status(), s -> s != 503))
        .isEqualTo(404);
  }

  @Test
  void takesPaymentAndGivesACancelledOrdersUnitsToTheNextShopper() throws SQLException {
    onSale(1006, PurchasePolicy.ONE_PER_USER, 1, 2);
    String paid = confirmed(21, 1006);
    String cancelled = confirmed(22, 1006);
    assertThat(pipeline.shop().buy(23, 1006, 1, "third-in-the-row").code()).isEqualTo("SOLD_OUT");

    eventually().until(() -> pipeline.shop().pay(21, paid).text("status"), "PAID"::equals);
    eventually()
        .until(() -> pipeline.shop().cancel(22, cancelled).text("status"), "CANCELLED"::equals);

    eventually()
        .until(() -> pipeline.shop().buy(23, 1006, 1, "third-in-the-row").status(), s -> s == 202);
    purchases.attempt(1006, 23, "third-in-the-row", 1);
    purchases.ended(paid, "PAID");
    purchases.ended(cancelled, "CANCELLED");
    assertThat(atRest(1006, 3).ownedUnits()).isEqualTo(2);
  }

  @Test
  void showsOperatorsALivingLaneForEveryPartition() {
    eventually()
        .untilAsserted(
            () -> {
              JsonNode lanes = pipeline.admin().lanes().json().path("lanes");
              assertThat(lanes.valueStream().map(lane -> lane.path("partition").asInt()))
                  .containsExactlyElementsOf(IntStream.range(0, 16).boxed().toList());
              assertThat(lanes.valueStream().map(lane -> lane.path("state").asString()))
                  .containsOnly("ALIVE");
            });
  }

  /** Also when all shoppers are in one shard, which has a quarter of the units. */
  @ParameterizedTest
  @CsvSource({"1007, false", "1008, true"})
  void sellsASkuInShardsToTheLastUnit(long skuId, boolean inOneShard) throws SQLException {
    ShardedSale sale = new ShardedSale(skuId, 4, 200);
    sale.open(pipeline.admin());

    List<Long> users = sale.users(300, shard -> !inOneShard || shard == 1);
    Map<String, Integer> codes = ShardedSale.codes(sale.buy(List.of(pipeline.shop()), users));

    assertThat(codes).isEqualTo(Map.of("202", 200, "SOLD_OUT", 100));
    sale.judgeSoldOut(pipeline.admin(), pipeline.sales());
  }

  private void onSale(long skuId, PurchasePolicy policy, int limit, long stock) {
    offer = new SaleOffer(skuId, policy, limit, stock);
    pipeline.admin().sell(skuId, policy, limit, stock);
  }

  private String confirmed(long userId, long skuId) {
    String key = "order-of-" + userId;
    purchases.attempt(skuId, userId, key, 1);
    String order = pipeline.shop().buy(userId, skuId, 1, key).text("orderId");
    purchases.accepted(skuId, userId, key, order);
    eventually()
        .until(() -> pipeline.shop().order(userId, order).text("status"), "CONFIRMED"::equals);
    return order;
  }

  /** Users 1..n buy concurrently; returns the number of 202 answers and of each problem code. */
  private Map<String, Integer> buy(long skuId, int users, int quantity, String key) {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (long user = 1; user <= users; user++) {
      long buyer = user;
      purchases.attempt(skuId, buyer, key, quantity);
      long sentAtMs = System.currentTimeMillis();
      answers.add(
          pipeline
              .shop()
              .buyPatiently(buyer, skuId, quantity, key)
              .whenComplete((answer, failure) -> note(skuId, buyer, key, sentAtMs, answer)));
    }
    Map<String, Integer> codes = new HashMap<>();
    for (CompletableFuture<Answer> answer : answers) {
      codes.merge(label(answer.orTimeout(5, TimeUnit.MINUTES).join()), 1, Integer::sum);
    }
    return codes;
  }

  private void note(long skuId, long userId, String key, long sentAtMs, Answer answer) {
    if (answer != null && answer.status() == 202) {
      purchases.accepted(skuId, userId, key, answer.text("orderId"));
    } else if (answer != null) {
      long now = System.currentTimeMillis();
      purchases.refused(skuId, userId, key, answer.code(), sentAtMs, now);
    }
  }

  private static String label(Answer answer) {
    return answer.status() == 202 ? "202" : answer.code();
  }

  /**
   * Waits until that many orders are stored and none is in progress, then checks every guarantee.
   */
  private SaleAtRest atRest(long skuId, long orders) throws SQLException {
    eventually().until(() -> pipeline.sales().settledOrders(skuId), settled -> settled == orders);
    SaleAtRest sale =
        eventually()
            .until(
                () -> pipeline.sales().read(offer),
                read -> read.inPrivateQueues() == 0 && !read.compensations().containsValue(false));
    Guarantee.all().forEach(guarantee -> guarantee.judge(sale, purchases));
    new LedgerBalances(pipeline.admin()).judge(sale, purchases);
    return sale;
  }
}
