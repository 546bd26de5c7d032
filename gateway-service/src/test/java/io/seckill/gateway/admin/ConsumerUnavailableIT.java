package io.seckill.gateway.admin;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.web.SlowConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.HungCalls;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.SetParams;

/** What the gateway answers while order-consumer is unavailable, slow, or sends bad responses. */
@ExtendWith(TestServers.class)
class ConsumerUnavailableIT {

  private static final String UNAVAILABLE = "DATABASE_UNAVAILABLE";

  private static GatewayStage stage;
  private static SlowConsumer consumer;
  private static TestGateway gateway;
  private static TestGateway alone;
  private static TestGateway withoutRedis;

  @BeforeAll
  static void start() throws Exception {
    stage = GatewayStage.shared();
    consumer = SlowConsumer.start();
    gateway =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            consumer.url(),
            "seckill.consumer.timeout=60s",
            "seckill.fallback=automatic");
    alone = TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), "http://127.0.0.1:1");
    withoutRedis =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            consumer.url(),
            "seckill.consumer.timeout=60s",
            "seckill.redis.url=redis://127.0.0.1:1/0");
  }

  @AfterAll
  static void stop() {
    withoutRedis.close();
    alone.close();
    gateway.close();
    consumer.close();
  }

  @Test
  void answers503WhenNobodyListens() {
    GatewayAnswer answer = alone.adminGet("/admin/v1/skus/1001");

    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.code()).isEqualTo(UNAVAILABLE);
    assertThat(answer.header("Retry-After")).isEqualTo("1");
    assertThat(answer.text("detail"))
        .startsWith("order-consumer is not available; pause and close still work.");
    assertThat(alone.operate("POST", "/admin/v1/skus/1001/open", null).code())
        .isEqualTo(UNAVAILABLE);
    assertThat(alone.operate("PUT", "/admin/v1/skus/1001", "not checked here").code())
        .isEqualTo(UNAVAILABLE);
  }

  @Test
  void stillSellsShowsAndCallsItselfReadyWhenNobodyListens() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);

    assertThat(alone.get(order.user(), "/api/v1/orders/" + order.id()).text("status"))
        .isEqualTo("QUEUED");
    eventually()
        .untilAsserted(
            () -> {
              GatewayAnswer ready = alone.send(alone.admin("/actuator/health/readiness"));
              assertThat(ready.status()).isEqualTo(200);
              assertThat(ready.text("status")).isEqualTo("DEGRADED");
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | not json at all",
        "200 | {\"skuId\":1}",
        "200 | []",
        "200 | {\"skuId\":\"x\"}",
        "500 | {\"code\":\"SECRET_INSIDE\",\"detail\":\"java.lang.NullPointerException at x\"}",
        "502 | <html>bad gateway</html>",
        "401 | {\"code\":\"UNAUTHORIZED\"}",
        "403 | {\"code\":\"FORBIDDEN\"}",
        "302 | moved"
      })
  void takesNoNonsenseForAnAnswer(int status, String body) throws Exception {
    CompletableFuture<GatewayAnswer> asked = ask();
    consumer.answer(status, body);

    GatewayAnswer answer = Bounded.get(asked);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.code()).isEqualTo(UNAVAILABLE);
    assertThat(answer.body()).doesNotContain("SECRET").doesNotContain("java.lang");
  }

  @Test
  void returnsTheProblemThatOrderConsumerAnswersWith() throws Exception {
    CompletableFuture<GatewayAnswer> asked = ask();
    consumer.answer(503, "{\"code\":\"BUSY\",\"detail\":\"Other sales are being loaded.\"}");

    assertThat(Bounded.get(asked).status()).isEqualTo(503);
    assertThat(Bounded.get(asked).code()).isEqualTo("BUSY");
    assertThat(Bounded.get(asked).text("detail")).isEqualTo("Other sales are being loaded.");
    assertThat(Bounded.get(asked).header("Retry-After")).isEqualTo("1");
  }

  @Test
  void repeatsOnlyHarmlessPartsOfARefusal() throws Exception {
    CompletableFuture<GatewayAnswer> asked = ask();
    consumer.answer(
        409,
        "{\"code\":\"bad code\",\"detail\":\"line\\n"
            + "break\",\"field\":\"<b>\",\"saleState\":\"OPEN\"}");

    GatewayAnswer answer = Bounded.get(asked);

    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.code()).isEqualTo("REFUSED");
    assertThat(answer.text("detail")).isEqualTo("line?break");
    assertThat(answer.json().has("field")).isFalse();
    assertThat(answer.text("saleState")).isEqualTo("OPEN");
  }

  @ParameterizedTest
  @CsvSource({"pause, PAUSED", "close, CLOSED"})
  void stopsASaleWhenNobodyListens(String action, String state) { // a stop writes Redis first
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    String path = GatewayStage.admin(sku) + "/" + action;
    GatewayAnswer answer = GatewayAnswer.available(() -> alone.operate("POST", path, null));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(answer.text("state")).isEqualTo(state);
    assertThat(answer.text("awaiting")).isEqualTo("MYSQL");
    assertThat(alone.buy(stage.newUser(), sku, 1, "key-after-stop").code()).isEqualTo(state);
    assertThat(stage.gateway().buy(stage.newUser(), sku, 1, "key-at-another").code())
        .isEqualTo(state);
    eventually()
        .until(() -> stage.gateway().adminGet(GatewayStage.admin(sku)).text("state").equals(state));
    assertThat(stage.redis().hget(RedisKeys.sku(sku), "state")).isEqualTo(state);
  }

  @ParameterizedTest
  @CsvSource({"pause, PAUSED", "close, CLOSED"})
  void stopsEveryShardOfASaleWhenNobodyListens(String action, String state) {
    long sku = onSaleInShards(4);
    eventually().until(() -> alone.bean(ProductCache.class).shards(sku) == 4);
    String path = GatewayStage.admin(sku) + "/" + action;

    GatewayAnswer answer = GatewayAnswer.available(() -> alone.operate("POST", path, null));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(Shards.ids(sku, 4))
        .extracting(shard -> stage.redis().hget(RedisKeys.sku(shard), "state"))
        .containsOnly(state);
  }

  /** Those of the operations page and of the health take seconds while a server is frozen. */
  @Test
  void stopsASaleWhileReadsOfRedisHaveEveryThreadOfTheirs() {
    long sku = onSaleInShards(4);
    eventually().until(() -> alone.bean(ProductCache.class).shards(sku) == 4);
    BlockingCalls reads = alone.bean("operatorRedisCalls", BlockingCalls.class);
    try (HungCalls hung = new HungCalls()) {
      for (int i = 0; i < 500; i++) { // some are refused
        var unused = reads.call(hung::call).subscribe(read -> {}, refused -> {});
      }

      GatewayAnswer answer = alone.operate("POST", GatewayStage.admin(sku) + "/pause", null);

      assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    }
  }

  /** Redis refuses the stop of one shard, as if its primary was away. */
  @Test
  void doesNotSayThatASaleIsStoppedWhenOneShardMayGoOn() {
    long sku = onSaleInShards(4);
    eventually().until(() -> alone.bean(ProductCache.class).shards(sku) == 4);
    String stops = RedisKeys.stops(Partition.ofSku(Shards.id(sku, 1)));
    SetParams ifAbsent = SetParams.setParams().nx();
    eventually("no other stop is pending")
        .until(() -> stage.redis().set(stops, "no hash", ifAbsent), "OK"::equals);
    try {
      GatewayAnswer answer = alone.operate("POST", GatewayStage.admin(sku) + "/pause", null);

      assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
      assertThat(answer.code()).isEqualTo("STORES_UNAVAILABLE");
    } finally {
      stage.redis().del(stops);
    }
  }

  @Test
  void stopsASaleWhenMySqlsHalfFails() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    CompletableFuture<GatewayAnswer> asked =
        CompletableFuture.supplyAsync(
            () -> gateway.operate("POST", GatewayStage.admin(sku) + "/pause", null));
    consumer.answer(500, "{}");

    assertThat(Bounded.get(asked).status()).isEqualTo(202);
    assertThat(stage.redis().hget(RedisKeys.sku(sku), "state")).isEqualTo("PAUSED");
    assertThat(
            stage
                .gateway()
                .operate("POST", GatewayStage.admin(sku) + "/resume", null)
                .text("state"))
        .isEqualTo("OPEN");
  }

  @Test
  void saysWhatBecameOfAStopWhileRedisIsAway() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    String row = stage.gateway().adminGet(GatewayStage.admin(sku)).body();
    CompletableFuture<GatewayAnswer> taken =
        CompletableFuture.supplyAsync(() -> close(withoutRedis, sku));
    consumer.answer(200, row.replace("OPEN", "CLOSED"));
    assertThat(Bounded.get(taken).status()).isEqualTo(202);
    assertThat(Bounded.get(taken).text("awaiting")).isEqualTo("REDIS");

    CompletableFuture<GatewayAnswer> lost =
        CompletableFuture.supplyAsync(() -> close(withoutRedis, sku));
    consumer.answer(503, "{}");
    assertThat(Bounded.get(lost).status()).isEqualTo(503);
    assertThat(Bounded.get(lost).code()).isEqualTo("STORES_UNAVAILABLE");
  }

  @Test
  void stopsAStrongSaleThroughOrderConsumerWithoutRedis() throws Exception {
    long sku = stage.newStrongSale();
    String row = stage.gateway().adminGet(GatewayStage.admin(sku)).body();
    eventually("the gateway to read the strong sale")
        .until(
            () -> withoutRedis.send(withoutRedis.shop("/api/v1/skus/" + sku)),
            page -> page.status() == 200 && page.text("decides").equals("MYSQL"));
    CompletableFuture<GatewayAnswer> asked =
        CompletableFuture.supplyAsync(() -> close(withoutRedis, sku));
    SlowConsumer.Asked stop = consumer.next();

    assertThat(stop.text())
        .isEqualTo("POST /internal/v1/skus/" + sku + "/state {\"state\":\"CLOSED\"}");
    stop.answer(200, row.replace("NEW", "CLOSED"));

    assertThat(Bounded.get(asked).status()).as(Bounded.get(asked).toString()).isEqualTo(200);
    assertThat(Bounded.get(asked).text("state")).isEqualTo("CLOSED");
  }

  @Test
  void doesNotSayThatAStrongSaleIsStoppedWhenNobodyListens() {
    long sku = stage.newStrongSale();
    eventually()
        .until(
            () -> alone.send(alone.shop("/api/v1/skus/" + sku)).text("decides"), "MYSQL"::equals);

    GatewayAnswer answer = alone.operate("POST", GatewayStage.admin(sku) + "/pause", null);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.code()).isEqualTo(UNAVAILABLE);
    assertThat(answer.text("detail")).startsWith("MySQL alone decides this sale");
    assertThat(stage.redis().hget(RedisKeys.stops(Partition.ofSku(sku)), Long.toString(sku)))
        .as("the stop is not recorded in Redis, which nobody would ask")
        .isNull();
  }

  /** This gateway does not have the shards of a SKU yet, nor the store that decides it. */
  @Test
  void saysBeforeTheProductsWereReadOnlyOfASaleInRedisThatItIsStopped() {
    long inRedis = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long strong = stage.onStrongSale();
    long sharded = onSaleInShards(2);
    try (TestGateway early =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            TestGateway.NO_CONSUMER,
            "spring.datasource.hikari.connection-timeout=250", // each read waits for it
            "spring.datasource.url=jdbc:mysql://127.0.0.1:1/none?useAffectedRows=true")) {
      for (long sku : List.of(strong, sharded)) {
        GatewayAnswer answer = early.operate("POST", GatewayStage.admin(sku) + "/pause", null);

        assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
        assertThat(answer.code()).isEqualTo("STORES_UNAVAILABLE");
      }
      GatewayAnswer stopped = early.operate("POST", GatewayStage.admin(inRedis) + "/pause", null);

      assertThat(stopped.status()).as(stopped.toString()).isEqualTo(202);
      assertThat(stopped.text("awaiting")).isEqualTo("MYSQL");
    }
    assertThat(stage.gateway().buy(stage.newUser(), inRedis, 1, "key-after-stop").code())
        .isEqualTo("PAUSED");
  }

  private static GatewayAnswer close(TestGateway gateway, long sku) {
    return gateway.operate("POST", GatewayStage.admin(sku) + "/close", null);
  }

  @Test
  void opensNothingInRedisItself() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    stage.gateway().operate("POST", GatewayStage.admin(sku) + "/pause", null);
    CompletableFuture<GatewayAnswer> asked =
        CompletableFuture.supplyAsync(
            () -> gateway.operate("POST", GatewayStage.admin(sku) + "/resume", null));
    consumer.answer(500, "{}");

    assertThat(Bounded.get(asked).code()).isEqualTo(UNAVAILABLE);
    assertThat(stage.redis().hget(RedisKeys.sku(sku), "state")).isEqualTo("PAUSED");
  }

  /** Both gateways send heartbeats to the same order-consumer. */
  @Test
  void reportsWhetherItUsesRedisAndTakesTheThresholdsFromTheAnswer() {
    RedisBreaker breaker = gateway.bean(RedisBreaker.class);
    answerHeartbeats(0);
    eventually("an answered heartbeat before another")
        .until(() -> heartbeats("automatic", "USABLE") > 1 && heartbeats("off", "UNUSABLE") > 0);
    eventually("a heartbeat with the milliseconds of more than a second")
        .until(() -> isSent("PUT .*\"forMs\":\\d{4,}.*"));

    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() -> breaker.call(0, ConsumerUnavailableIT::breakOff))
          .isInstanceOf(JedisConnectionException.class);
    }
    assertThat(breaker.isClosed(0)).as("after more failures than opened it before").isTrue();
  }

  @Test
  void confirmsOnceHeartbeatsAreAnsweredAndTransfersWhenAFallbackBegins() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long user = stage.newUser();
    answerHeartbeats(0);
    GatewayAnswer bought =
        eventually()
            .until(() -> gateway.buy(user, sku, 1, "key-promised"), given -> given.status() == 202);

    answerHeartbeats(1);

    String transfer = "POST /internal/v1/gateways/[0-9a-f]{32}/handover .*%s.*";
    eventually().until(() -> isSent(transfer.formatted(bought.text("orderId"))));
  }

  @Test
  void endsItsRegistrationWhenItStops() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long user = stage.newUser();
    try (SlowConsumer own = SlowConsumer.start()) {
      own.answerHeartbeats(answer(0));
      try (TestGateway stopping =
          TestGateway.start(
              stage.redisDatabase(),
              stage.mysqlDatabase(),
              own.url(),
              "seckill.fallback=automatic")) {
        eventually("the gateway to be registered")
            .until(() -> stopping.buy(user, sku, 1, "key-before-stop").status() == 202);
      }

      assertThat(own.heartbeats()).last().asString().startsWith("DELETE /internal/v1/gateways/");
    }
  }

  private static void answerHeartbeats(long term) {
    consumer.answerHeartbeats(answer(term));
  }

  private static String answer(long term) {
    return "{\"term\":%d,\"failurePercent\":100,\"failuresPerSecond\":100000}".formatted(term);
  }

  private static boolean isSent(String pattern) {
    return consumer.heartbeats().stream().anyMatch(call -> call.matches(pattern));
  }

  /** The two gateways differ in their mode. */
  private static long heartbeats(String mode, String redis) {
    return consumer.heartbeats().stream()
        .filter(one -> one.contains("\"fallback\":\"" + mode + "\""))
        .filter(one -> one.contains("\"redis\":\"" + redis + "\""))
        .count();
  }

  private static String breakOff() {
    throw new JedisConnectionException("for the test");
  }

  private static long onSaleInShards(int shards) {
    long sku = stage.newSku();
    stage
        .gateway()
        .putOnSale(
            sku,
            GatewayStage.product(PurchasePolicy.LIMITED, 5, 1_000)
                .replace("\"stock\"", "\"shards\":%d,\"stock\"".formatted(shards)));
    return sku;
  }

  private static CompletableFuture<GatewayAnswer> ask() {
    return CompletableFuture.supplyAsync(() -> gateway.adminGet("/admin/v1/skus/1001"));
  }
}
