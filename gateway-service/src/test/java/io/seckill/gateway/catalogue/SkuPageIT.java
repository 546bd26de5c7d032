package io.seckill.gateway.catalogue;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.Bounded;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

@ExtendWith(TestServers.class)
class SkuPageIT {

  private static final GatewayStage stage = GatewayStage.shared();

  @Test
  void showsAProductAndItsSaleToAnyone() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);

    eventually().until(() -> onSale(sku));
    GatewayAnswer answer = show(sku);

    assertThat(answer.text("name")).isEqualTo("A thing");
    assertThat(answer.json().path("priceCents").longValue()).isEqualTo(1999);
    assertThat(answer.text("policy")).isEqualTo("LIMITED");
    assertThat(answer.text("state")).isEqualTo("OPEN");
    assertThat(answer.json().path("soldOut").booleanValue()).isFalse();
    assertThat(answer.text("opensAt")).endsWith("Z");
  }

  @Test
  void listsWhatIsOnSaleAndWhatOfItIsGone() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    long closed = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    long coming = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    stage.update(
        "UPDATE products SET opens_at = closes_at - INTERVAL 1 MINUTE WHERE sku_id = ?", coming);
    stage.gateway().operate("POST", GatewayStage.admin(closed) + "/close", null);
    stage.buy(sku, 2);

    eventually()
        .untilAsserted(
            () -> {
              List<JsonNode> skus = list("limit=2");
              assertThat(skus.stream().filter(one -> isSku(one, sku)))
                  .singleElement()
                  .satisfies(one -> assertThat(one.path("soldOut").booleanValue()).isTrue());
              assertThat(skus).noneMatch(one -> isSku(one, closed)).doesNotHaveDuplicates();
              assertThat(skus).filteredOn(one -> isSku(one, coming)).hasSize(1);
              assertThat(list("when=NOW")).noneMatch(one -> isSku(one, coming));
              assertThat(list("when=SOON"))
                  .noneMatch(one -> isSku(one, sku))
                  .anyMatch(one -> isSku(one, coming));
            });
    for (String query : List.of("when=EVER", "limit=0", "limit=51", "cursor=x")) {
      assertThat(stage.gateway().send(stage.gateway().shop("/api/v1/skus?" + query)).code())
          .isEqualTo("INVALID_REQUEST");
    }
  }

  @ParameterizedTest
  @CsvSource({"'', LIST", "stock, LIST", "stock, TEXT"})
  void aSaleThatCannotBeReadInRedisSpoilsNoOther(String key, String kind) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    long spoilt = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    String name = key.isEmpty() ? RedisKeys.sku(spoilt) : RedisKeys.stock(spoilt);
    stage.redis().del(name);
    if (kind.equals("LIST")) {
      stage.redis().rpush(name, "1");
    } else {
      stage.redis().set(name, "a few");
    }

    try {
      eventually().until(() -> onSale(sku));
      eventually().until(() -> show(spoilt).status() == 200 && !onSale(spoilt));
      eventually()
          .untilAsserted(() -> assertThat(list("limit=50")).anyMatch(one -> isSku(one, spoilt)));
    } finally {
      stage.redis().del(RedisKeys.sku(spoilt), RedisKeys.stock(spoilt));
      stage.closeQuarantined(spoilt);
    }
  }

  /** All pages. */
  private static List<JsonNode> list(String query) {
    List<JsonNode> all = new ArrayList<>();
    String cursor = "";
    do {
      String page = "/api/v1/skus?" + query + cursor;
      JsonNode shown = stage.gateway().send(stage.gateway().shop(page)).json();
      shown.path("skus").forEach(all::add);
      cursor = shown.path("next").isNull() ? "" : "&cursor=" + shown.path("next").stringValue();
    } while (!cursor.isEmpty());
    return all;
  }

  private static boolean isSku(JsonNode listed, long sku) {
    return listed.path("skuId").longValue() == sku;
  }

  @Test
  void saysWhenTheLastUnitIsGoneAndWhenASaleIsClosed() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    eventually().until(() -> onSale(sku));
    stage.buy(sku, 2);
    eventually()
        .untilAsserted(() -> assertThat(show(sku).json().path("soldOut").booleanValue()).isTrue());
    assertThat(onSale(sku)).isFalse();

    stage.gateway().operate("POST", GatewayStage.admin(sku) + "/close", null);
    eventually().until(() -> show(sku).text("state"), "CLOSED"::equals);
  }

  @Test
  void saysThatASaleIsNearlyGoneWhenATenthIsLeft() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, 20);
    stage.buy(sku, 17);
    assertThat(nearlyGone(show(sku))).isFalse();

    stage.buy(sku, 1);
    eventually().until(() -> nearlyGone(show(sku)));

    stage.buy(sku, 2);
    GatewayAnswer page =
        eventually().until(() -> show(sku), answer -> answer.json().path("soldOut").booleanValue());
    assertThat(nearlyGone(page)).isFalse();
  }

  /** As after a stop while order-consumer is away; here it has no stop to bring to MySQL. */
  @Test
  void showsAStopThatOnlyRedisHas() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    eventually().until(() -> onSale(sku));

    eventually()
        .untilAsserted(
            () -> {
              stage.redis().hset(RedisKeys.sku(sku), "state", "PAUSED");
              assertThat(show(sku).text("state")).isEqualTo("PAUSED");
              assertThat(list("when=NOW"))
                  .filteredOn(one -> isSku(one, sku))
                  .singleElement()
                  .satisfies(
                      one -> assertThat(one.path("state").stringValue()).isEqualTo("PAUSED"));
            });
    eventually()
        .untilAsserted(
            () -> {
              stage.redis().hset(RedisKeys.sku(sku), "state", "CLOSED");
              assertThat(show(sku).text("state")).isEqualTo("CLOSED");
              assertThat(list("when=NOW")).noneMatch(one -> isSku(one, sku));
            });
    stage.gateway().operate("POST", GatewayStage.admin(sku) + "/close", null);
  }

  /** As after a restart with data from before the last preheat. */
  @Test
  void showsNoStopOfAFormerEpoch() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    eventually().until(() -> onSale(sku));
    try {
      stage.redis().hset(RedisKeys.sku(sku), Map.of("state", "CLOSED", "epoch", "0"));

      GatewayAnswer page = eventually().until(() -> show(sku), answer -> !onSale(answer));
      assertThat(page.text("state")).isEqualTo("OPEN");
      assertThat(page.json().path("soldOut").booleanValue()).isFalse();
      eventually()
          .untilAsserted(() -> assertThat(list("when=NOW")).anyMatch(one -> isSku(one, sku)));
    } finally {
      stage.redis().del(RedisKeys.sku(sku), RedisKeys.stock(sku));
      stage.closeQuarantined(sku);
    }
  }

  @Test
  void isNotOnSaleBeforeItsPreheatNorWhenRedisHasLostTheSale() {
    long sku = stage.newSku();
    stage
        .gateway()
        .operate(
            "PUT", GatewayStage.admin(sku), GatewayStage.product(PurchasePolicy.UNLIMITED, 0, 10));
    assertThat(show(sku).text("state")).isEqualTo("NEW");
    assertThat(onSale(sku)).isFalse();

    long lost = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    eventually().until(() -> onSale(lost));
    stage.redis().del(RedisKeys.sku(lost));
    eventually().until(() -> !onSale(lost));
    stage.closeQuarantined(lost);
  }

  @Tag("proof")
  @Test
  void isNeverCalledOffBecauseRedisDoesNotAnswer() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    RedisServer server = TestServers.redis();
    try (TcpProxy link = TcpProxy.to(server);
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase().via(link),
                stage.mysqlDatabase(),
                stage.consumer().url(),
                TestGateway.shippedTimes())) {
      eventually().until(() -> onSale(own, sku));

      link.dropToClient(true);

      await() // first the cached answer, then 503 once it is too old
          .atMost(SOON)
          .until(
              () -> {
                GatewayAnswer answer = show(own, sku);
                assertThat(answer.status()).isIn(200, 503);
                assertThat(answer.status() == 503 || onSale(answer)).isTrue();
                return answer.status() == 503;
              });
      GatewayAnswer list = own.send(own.shop("/api/v1/skus")).expect(200);
      assertThat(list.json().path("skus")).as("as MySQL has them").isNotEmpty();

      link.heal();
      eventually().until(() -> onSale(own, sku));
    }
  }

  @Tag("proof")
  @Test
  void areShownToACrowdWithoutAskingMySqlEachTime() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    try (TestGateway own =
        TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), stage.consumer().url())) {
      eventually().until(() -> onSale(own, sku));
      long startedNanos = System.nanoTime();
      long before = statements(own);

      List<Long> asked =
          IntStream.range(0, 1_000).mapToObj(i -> i % 2 == 0 ? sku : 4_000_000_000L + i).toList();
      List<CompletableFuture<HttpResponse<Void>>> answers =
          asked.stream()
              .map(one -> own.shop("/api/v1/skus/" + one).build())
              .map(request -> own.http().sendAsync(request, BodyHandlers.discarding()))
              .toList();

      for (int i = 0; i < asked.size(); i++) {
        long one = asked.get(i);
        int status = Bounded.get(answers.get(i)).statusCode();
        assertThat(status == 503 ? available(own, one).status() : status)
            .isEqualTo(one == sku ? 200 : 404);
      }
      long seconds = 1 + (System.nanoTime() - startedNanos) / 1_000_000_000;
      assertThat(statements(own) - before)
          .as("four queries of the products a second, and those of the sale watch")
          .isLessThan(20 * seconds);
    }
  }

  /** MySQL connections borrowed and returned so far, each for one statement or more. */
  private static long statements(TestGateway gateway) {
    return gateway.bean(MeterRegistry.class).get("hikaricp.connections.usage").timer().count();
  }

  @Test
  void showsANewProductAtOnce() {
    for (int i = 0; i < 5; i++) {
      long sku = stage.newSku();
      assertThat(show(sku).status()).isEqualTo(404);
      stage
          .gateway()
          .operate(
              "PUT",
              GatewayStage.admin(sku),
              GatewayStage.product(PurchasePolicy.UNLIMITED, 0, 10));
      assertThat(show(sku).text("state")).isEqualTo("NEW");
    }
  }

  @Test
  void readsSalesThatEndedLongAgoOnlyWhenTheyAreAskedFor() {
    ProductCache products = stage.gateway().bean(ProductCache.class);
    long recent = endedDaysAgo(1);
    long old = endedDaysAgo(40);

    eventually().until(() -> products.lastRead(recent) != null);
    assertThat(products.lastRead(old)).isNull();
    assertThat(show(old).text("state")).isEqualTo("CLOSED");
    assertThat(products.find(old).block()).isNotNull();
    eventually("the next reads leave it out").until(() -> products.lastRead(old) == null);
    assertThat(products.all()).noneMatch(product -> product.skuId() == old);
  }

  private static long endedDaysAgo(int days) {
    long sku = stage.newSku();
    stage
        .mysql()
        .sql(
            "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                + " limit_per_user, opens_at, closes_at, state, decides) VALUES (?, 'Old', 1, 0, 0,"
                + " 'UNLIMITED', 0, UTC_TIMESTAMP() - INTERVAL ? DAY, UTC_TIMESTAMP() - INTERVAL ?"
                + " DAY, 'CLOSED', 'MYSQL')")
        .params(sku, days + 1, days)
        .update();
    return sku;
  }

  private static GatewayAnswer show(TestGateway gateway, long sku) {
    return gateway.send(gateway.shop("/api/v1/skus/" + sku));
  }

  private static boolean onSale(TestGateway gateway, long sku) {
    return onSale(show(gateway, sku));
  }

  private static boolean onSale(GatewayAnswer answer) {
    return answer.status() == 200 && answer.json().path("onSale").booleanValue();
  }

  private static boolean nearlyGone(GatewayAnswer page) {
    return page.json().path("nearlyGone").booleanValue();
  }

  private static GatewayAnswer show(long sku) {
    return available(stage.gateway(), sku);
  }

  private static GatewayAnswer available(TestGateway gateway, long sku) {
    return GatewayAnswer.available(() -> show(gateway, sku));
  }

  private static boolean onSale(long sku) {
    return onSale(show(sku));
  }
}
