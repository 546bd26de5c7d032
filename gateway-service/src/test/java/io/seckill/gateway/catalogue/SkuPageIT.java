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
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
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
    // Other tests may have more sales than are listed.
    stage.update(
        "UPDATE products SET opens_at = opens_at - INTERVAL 1 YEAR WHERE sku_id IN (?, ?)",
        sku,
        closed);
    stage.gateway().operate("POST", GatewayStage.admin(closed) + "/close", null);
    stage.buy(sku, 2);

    eventually()
        .untilAsserted(
            () -> {
              JsonNode skus =
                  stage.gateway().send(stage.gateway().shop("/api/v1/skus")).json().path("skus");
              assertThat(skus.valueStream().filter(one -> isSku(one, sku)))
                  .singleElement()
                  .satisfies(one -> assertThat(one.path("soldOut").booleanValue()).isTrue());
              assertThat(skus.valueStream()).noneMatch(one -> isSku(one, closed));
            });
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
  }

  @Test
  void isNeverCalledOffBecauseRedisDoesNotAnswer() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    RedisServer server = TestServers.redis();
    try (TcpProxy link = TcpProxy.to(server);
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase().via(link), stage.mysqlDatabase(), stage.consumer().url())) {
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
      assertThat(own.send(own.shop("/api/v1/skus")).status()).isEqualTo(503);

      link.heal();
      eventually().until(() -> onSale(own, sku));
    }
  }

  @Test
  void areShownToACrowdWithoutAskingMySqlEachTime() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    try (TestGateway own =
        TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), stage.consumer().url())) {
      eventually().until(() -> onSale(own, sku));
      long startedNanos = System.nanoTime();
      long before = statements(own);

      List<CompletableFuture<Integer>> answers =
          IntStream.range(0, 1_000)
              .mapToObj(i -> i % 2 == 0 ? sku : 4_000_000_000L + i)
              .map(asked -> own.shop("/api/v1/skus/" + asked).build())
              .map(request -> own.http().sendAsync(request, BodyHandlers.discarding()))
              .map(answer -> answer.thenApply(HttpResponse::statusCode))
              .toList();

      assertThat(answers.stream().map(CompletableFuture::join))
          .containsOnly(200, 404)
          .haveExactly(500, new Condition<>(status -> status == 404, "UNKNOWN_SKU"));
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

  private static GatewayAnswer show(TestGateway gateway, long sku) {
    return gateway.send(gateway.shop("/api/v1/skus/" + sku));
  }

  private static boolean onSale(TestGateway gateway, long sku) {
    return onSale(show(gateway, sku));
  }

  private static boolean onSale(GatewayAnswer answer) {
    return answer.status() == 200 && answer.json().path("onSale").booleanValue();
  }

  private static GatewayAnswer show(long sku) {
    return stage.gateway().send(stage.gateway().shop("/api/v1/skus/" + sku));
  }

  private static boolean onSale(long sku) {
    return onSale(show(sku));
  }
}
