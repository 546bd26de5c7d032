package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.Eventually;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Order lists, and the threads that stay free for others while many shoppers read lists. */
@ExtendWith(TestServers.class)
class OrderListIT {

  private static final String LIST = "/api/v1/orders?limit=100";

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();

  @Test
  void showsWaitingOrdersOfEveryPolicyAndPartitionWithTheStoredOnes() {
    long user = stage.newUser();
    List<Placed> placed = new ArrayList<>();
    for (PurchasePolicy policy : PurchasePolicy.values()) {
      int limit = policy == PurchasePolicy.UNLIMITED ? 0 : 1;
      placed.add(stage.buy(user, stage.onSale(policy, limit, 100), 1));
      placed.add(stage.store(placed.get(0).sku(), user, 1, 1, "EXPIRED", null));
    }

    assertThat(ids(gateway.get(user, LIST))).containsExactlyInAnyOrderElementsOf(ids(placed));
    assertThat(ids(gateway.get(stage.newUser(), LIST))).isEmpty();
  }

  @Test
  void showsArchivedOrdersAmongTheOthersAndEachByItself() {
    long user = stage.newUser();
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    List<Placed> placed = new ArrayList<>();
    for (String status : List.of("PAID", "EXPIRED", "CANCELLED")) {
      placed.add(0, stage.store(sku, user, 1, 1, status, null));
    }
    Placed archived = placed.get(1);
    String alias = Long.toString(archived.id().value() - 1);
    stage.update("INSERT INTO order_alias_history VALUES (?, ?, NOW(6))", alias, id(archived));
    stage.update(
        "INSERT INTO order_history SELECT order_id, user_id, sku_id, quantity, unit_price_cents,"
            + " request_id, status, reason, epoch, seq, admitted_at, created_at, updated_at"
            + " FROM orders WHERE order_id = ?",
        id(archived));
    stage.update("DELETE FROM orders WHERE order_id = ?", id(archived));

    assertThat(ids(gateway.get(user, LIST))).containsExactlyElementsOf(ids(placed));
    assertThat(ids(gateway.get(user, "/api/v1/orders?limit=2")))
        .containsExactlyElementsOf(ids(placed.subList(0, 2)));
    for (String asked : List.of(id(archived), alias)) {
      GatewayAnswer answer = gateway.get(user, "/api/v1/orders/" + asked);
      assertThat(answer.text("orderId")).as(answer.toString()).isEqualTo(id(archived));
      assertThat(answer.text("status")).isEqualTo("EXPIRED");
    }
    assertThat(gateway.get(stage.newUser(), "/api/v1/orders/" + alias).status()).isEqualTo(404);
  }

  @Test
  void isWholeForEachOfManyWhoAskAtTheSameTime() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, 10_000);
    List<Placed> placed = Stream.generate(() -> stage.buy(sku, 1)).limit(200).toList();

    List<CompletableFuture<HttpResponse<String>>> answers =
        placed.stream()
            .map(
                order ->
                    gateway
                        .http()
                        .sendAsync(
                            gateway
                                .shop(LIST)
                                .header("Authorization", TestGateway.shopper(order.user()))
                                .build(),
                            BodyHandlers.ofString()))
            .toList();

    for (int i = 0; i < placed.size(); i++) {
      long user = placed.get(i).user();
      GatewayAnswer answer = new GatewayAnswer(Bounded.get(answers.get(i)));
      if (answer.status() == 503) { // refused, because the machine is busy
        answer = eventually().until(() -> gateway.get(user, LIST), again -> again.status() != 503);
      }
      assertThat(ids(answer)).as(answer.toString()).containsExactly(id(placed.get(i)));
    }
  }

  /** Redis has sales, and there is no fallback. */
  @Test
  void failsWithoutTheWaitingOrders() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    CannedRedis away =
        new CannedRedis(
            command -> {
              throw new JedisConnectionException("for the test");
            });
    RedisBreaker breaker = RedisBreakers.of(away, new SimpleMeterRegistry());
    WaitingOrders waiting =
        new WaitingOrders(away, breaker, (partition, server) -> true, 100, Eventually.SOON);
    OrderLists real = gateway.bean(OrderLists.class);
    eventually().until(() -> real.products().redisMayHaveOrders());
    OrderLists lists =
        new OrderLists(waiting, real.mysql(), real.statuses(), real.mysqlCalls(), real.products());

    assertThatThrownBy(() -> lists.page(order.user(), Long.MAX_VALUE, 10).block(Eventually.SOON))
        .isInstanceOfSatisfying(
            ProblemException.class,
            failure ->
                assertThat(failure.problem().code()).isEqualTo(ProblemCode.STATUS_UNAVAILABLE));
    waiting.destroy();
  }

  @Tag("proof")
  @Test
  void isRefusedInsteadOfShownWithoutTheWaitingOrders() throws Exception {
    RedisServer server = TestServers.redis();
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    try (TcpProxy link = TcpProxy.to(server);
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase().via(link),
                stage.mysqlDatabase(),
                stage.consumer().url(),
                TestGateway.shippedTimes())) {
      eventually().until(() -> own.get(order.user(), LIST).status(), s -> s == 200);

      link.dropToClient(true);

      GatewayAnswer answer = own.get(order.user(), LIST);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
      assertThat(answer.code()).isEqualTo("STATUS_UNAVAILABLE");
      eventually().until(() -> health(own), health -> health.equals("503 DOWN"));
      assertThat(readiness(own)).isEqualTo(503);

      stage.fallback("MYSQL");
      eventually().until(() -> own.get(order.user(), LIST).status(), s -> s == 200);
      assertThat(isComplete(own, order.user())).isFalse();
      for (String phase : List.of("ENTERING", "ACTIVE")) {
        stage.fallbackOfSales(phase, order.sku());
        eventually().until(() -> phase.equals(phaseIn(own, order.sku())));
        assertThat(isComplete(own, order.user())).as(phase).isFalse();
        assertThat(isComplete(gateway, order.user())).as("%s, with Redis", phase).isFalse();
      }
      eventually().until(() -> health(own), health -> health.equals("200 DEGRADED"));
      assertThat(readiness(own)).as("it sells what MySQL decides").isEqualTo(200);

      GatewayAnswer withoutRedis =
          GatewayAnswer.available(() -> listedWhileTheFallbackEnds(own, order));
      assertThat(withoutRedis.json().path("complete").asBoolean(true))
          .as("after the fallback: " + withoutRedis)
          .isFalse();
      eventually().until(() -> health(own), health -> health.equals("503 DOWN"));
      link.heal();
      eventually()
          .untilAsserted(
              () -> assertThat(ids(own.get(order.user(), LIST))).containsExactly(id(order)));
    } finally {
      stage.fallbackOfSales("NO", order.sku());
      stage.fallback("REDIS");
    }
  }

  /** The list that waits for MySQL meanwhile; 503 when that lasts longer than a list may take. */
  private static GatewayAnswer listedWhileTheFallbackEnds(TestGateway own, Placed order)
      throws SQLException {
    ProductCache products = own.bean(ProductCache.class);
    stage.fallback("MYSQL");
    stage.fallbackOfSales("ACTIVE", order.sku());
    eventually().until(() -> products.isInFallback() && "ACTIVE".equals(phaseIn(own, order.sku())));
    CompletableFuture<GatewayAnswer> late;
    try (Connection lock = stage.mysqlDatabase().connect();
        Statement statement = lock.createStatement()) {
      statement.execute("LOCK TABLES orders WRITE");
      late = CompletableFuture.supplyAsync(() -> own.get(order.user(), LIST));
      eventually().until(() -> isHeldUp(order.user()) || late.isDone());
      stage.fallbackOfSales("NO", order.sku());
      stage.fallback("REDIS");
      eventually().until(() -> !products.isInFallback());
    }
    return Bounded.get(late);
  }

  private static boolean isComplete(TestGateway gateway, long user) {
    GatewayAnswer list = gateway.get(user, LIST);
    assertThat(list.status()).as(list.toString()).isEqualTo(200);
    return list.json().path("complete").asBoolean();
  }

  private static String phaseIn(TestGateway gateway, long sku) {
    ProductRow read = gateway.bean(ProductCache.class).lastRead(sku);
    return read == null ? "" : read.fallback();
  }

  /** Whether a statement with this user's id waits for a table. */
  private static boolean isHeldUp(long user) {
    return stage.number(
            "SELECT COUNT(*) FROM information_schema.processlist"
                + " WHERE state LIKE 'Waiting for table%' AND info LIKE ?",
            "%" + user + "%")
        > 0;
  }

  private static String health(TestGateway gateway) {
    GatewayAnswer answer = gateway.send(gateway.admin("/api/v1/health"));
    return answer.status() + " " + answer.text("status");
  }

  private static int readiness(TestGateway gateway) {
    return gateway.send(gateway.admin("/actuator/health/readiness")).status();
  }

  @ParameterizedTest
  @ValueSource(strings = {"redisCalls", "mysqlCalls"})
  void leavesReadinessAndOperatorsTheirThreads(String pool) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    BlockingCalls shoppers = gateway.bean(pool, BlockingCalls.class);
    CountDownLatch end = new CountDownLatch(1);
    List<Disposable> requests =
        IntStream.range(0, 2_000)
            .mapToObj(i -> shoppers.call(() -> hold(end)).subscribe(done -> {}, refused -> {}))
            .toList();
    try {
      eventually().until(() -> readiness(gateway), s -> s == 200);
      eventually()
          .untilAsserted(
              () ->
                  assertThat(gateway.send(gateway.admin("/api/v1/health")).body())
                      .contains("\"mysql\":{\"status\":\"UP\"")
                      .contains("No relay's lane holds a lease for partitions [")
                      .doesNotContain("Redis does not answer"));
      assertThat(gateway.operate("POST", GatewayStage.admin(sku) + "/pause", null).status())
          .isEqualTo(200);
    } finally {
      end.countDown();
      requests.forEach(Disposable::dispose);
    }
  }

  private static boolean hold(CountDownLatch end) {
    Bounded.await(end);
    return true;
  }

  private static List<String> ids(GatewayAnswer list) {
    assertThat(list.status()).as(list.toString()).isEqualTo(200);
    return list.json()
        .path("orders")
        .valueStream()
        .map(order -> order.path("orderId").stringValue())
        .toList();
  }

  private static List<String> ids(List<Placed> orders) {
    return orders.stream().map(OrderListIT::id).toList();
  }

  private static String id(Placed order) {
    return order.id().toString();
  }
}
