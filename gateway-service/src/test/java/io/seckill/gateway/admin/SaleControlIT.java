package io.seckill.gateway.admin;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.Bounded;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

@ExtendWith(TestServers.class)
class SaleControlIT {

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();
  private static final UnifiedJedis redis = stage.redis();

  @ParameterizedTest
  @CsvSource({
    "'', open, 409",
    "'', pause, 409",
    "'', resume, 409",
    "'', close, 409",
    "preheat, open, OPEN",
    "preheat, pause, 409",
    "preheat, resume, 409",
    "preheat, close, CLOSED",
    "preheat open, open, OPEN",
    "preheat open, pause, PAUSED",
    "preheat open, resume, OPEN",
    "preheat open, close, CLOSED",
    "preheat open pause, open, 409",
    "preheat open pause, pause, PAUSED",
    "preheat open pause, resume, OPEN",
    "preheat open pause, close, CLOSED",
    "preheat open close, open, 409",
    "preheat open close, pause, 409",
    "preheat open close, resume, 409",
    "preheat open close, close, CLOSED",
    "preheat open close preheat, open, OPEN",
    "preheat open close preheat, close, CLOSED"
  })
  void movesASaleOnlyAlongLegalTransitions(String before, String action, String outcome) {
    long sku = product();
    for (String step : before.isEmpty() ? new String[0] : before.split(" ", -1)) {
      assertThat(act(sku, step).status()).isEqualTo(200);
    }
    String redisBefore = redis.hget(RedisKeys.sku(sku), "state");

    GatewayAnswer answer = act(sku, action);

    if (outcome.equals("409")) {
      assertThat(answer.code()).as(answer.toString()).isEqualTo("ILLEGAL_TRANSITION");
      assertThat(answer.text("saleState")).isEqualTo(stateInMySql(sku));
      assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo(redisBefore);
    } else {
      assertThat(answer.text("state")).as(answer.toString()).isEqualTo(outcome);
      assertThat(stateInMySql(sku)).isEqualTo(outcome);
      assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo(outcome);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "open, PREHEATED, OPEN",
    "resume, PAUSED, OPEN",
    "pause, OPEN, PAUSED",
    "close, OPEN, CLOSED",
    "close, PREHEATED, CLOSED"
  })
  void completesWhatACrashLeftHalfDone(String action, String redisState, String goal) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    // MySQL has the new state, Redis does not: for open and resume as after a crash between the
    // two writes, for pause and close as after a restore of Redis.
    stage.update("UPDATE products SET state = ? WHERE sku_id = ?", goal, sku);
    redis.hset(RedisKeys.sku(sku), "state", redisState);

    assertThat(act(sku, action).text("state")).isEqualTo(goal);
    assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo(goal);
  }

  @Test
  void opensNothingThatRedisDoesNotHold() { // facts.md 1: missing data cause a refusal
    long sku = product();
    act(sku, "preheat");
    redis.del(RedisKeys.sku(sku));

    assertThat(act(sku, "open").code()).isEqualTo("NOT_PREHEATED");
    assertThat(stateInMySql(sku)).isEqualTo("PREHEATED");
  }

  @Test
  void opensNothingOfAnotherEpoch() { // fault 7: an older Redis
    long sku = product();
    act(sku, "preheat");
    redis.hset(RedisKeys.sku(sku), "epoch", "99");

    assertThat(act(sku, "open").code()).isEqualTo("NOT_PREHEATED");
    assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo("PREHEATED");
  }

  @ParameterizedTest
  @CsvSource({"preheat, open, PREHEATED", "preheat open pause, resume, PAUSED"})
  void letsNobodyInWhileRedisIsBehindMySql(String before, String action, String state) {
    long sku = product();
    for (String step : before.split(" ", -1)) {
      act(sku, step);
    }
    stage.update("UPDATE products SET last_seq = 5 WHERE sku_id = ?", sku);

    assertThat(act(sku, action).code()).isEqualTo("REDIS_BEHIND");
    assertThat(stateInMySql(sku)).isEqualTo(state);
    assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo(state);
    stage.closeQuarantined(sku);
  }

  @Test
  void closesASaleThatRedisHasLost() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    redis.del(RedisKeys.sku(sku));

    assertThat(act(sku, "close").text("state")).isEqualTo("CLOSED");
    assertThat(redis.exists(RedisKeys.sku(sku))).isFalse();
  }

  @Test
  void aLateResumeDoesNotOutliveAClose() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    act(sku, "pause");
    long resumed = act(sku, "resume").json().path("stateVersion").longValue();
    act(sku, "close");

    // The resume's write to Redis, from a gateway that was delayed after its write to MySQL.
    Followed late = new SaleStates(redis).follow(sku, "OPEN", 1, resumed, null);

    assertThat(late).isEqualTo(Followed.NEWER);
    assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo("CLOSED");
  }

  @Test
  void goesOnWithALargeExtensionWhereItWasCutOff() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100_000);
    Map<String, String> sale = redis.hgetAll(RedisKeys.sku(sku));
    int last = Integer.parseInt(sale.get("bucketCount")) - 1;
    long end = Long.parseLong(sale.get("expiresAt"));
    long later = end + 3_600_000L;
    for (int bucket : List.of(0, 64, last)) {
      redis.hset(RedisKeys.bucket(sku, bucket), "1", "1|1|1|1|1|C|1");
      redis.pexpireAt(RedisKeys.bucket(sku, bucket), end);
    }
    redis.hset(
        RedisKeys.sku(sku), Map.of("expiresAt", Long.toString(later), "extending", later + ":64"));

    GatewayAnswer extended =
        put(
            sku,
            100_000,
            instant(sale.get("opensAt")),
            instant(sale.get("closesAt")).plusSeconds(3600));

    assertThat(extended.status()).as(extended.toString()).isEqualTo(200);
    assertThat(redis.pexpireTime(RedisKeys.bucket(sku, 0))).as("extended before").isEqualTo(end);
    assertThat(redis.pexpireTime(RedisKeys.bucket(sku, 64))).isEqualTo(later);
    assertThat(redis.pexpireTime(RedisKeys.bucket(sku, last))).isEqualTo(later);
    assertThat(redis.hget(RedisKeys.sku(sku), "extending")).isNull();
    assertThat(redis.hget(RedisKeys.sku(sku), "closesAt"))
        .isEqualTo(Long.toString(Long.parseLong(sale.get("closesAt")) + 3_600_000L));
  }

  /** Nobody is refused before the last unit is sold, though all shoppers are in one shard. */
  @Test
  void aSkuInShardsIsOneSkuToShoppersAndOperators() {
    long sku = stage.newSku();
    int units = 203;
    gateway.putOnSale(
        sku,
        GatewayStage.product(PurchasePolicy.ONE_PER_USER, 1, units)
            .replace("\"stock\"", "\"shards\":4,\"stock\""));

    Iterator<Long> shoppers =
        LongStream.generate(stage::newUser).filter(user -> Shards.of(user, 4) == 1).iterator();
    List<Long> waiting = new ArrayList<>();
    LongStream.range(0, units).forEach(n -> waiting.add(shoppers.next()));
    eventually()
        .until(
            () -> {
              Map<Long, CompletableFuture<GatewayAnswer>> answers = new HashMap<>();
              waiting.stream()
                  .limit(32)
                  .forEach(user -> answers.put(user, gateway.buyAsync(user, sku, 1, "key-" + sku)));
              answers.forEach((user, answer) -> removeIfSold(waiting, user, Bounded.get(answer)));
              return waiting.isEmpty();
            });

    long late = shoppers.next();
    eventually().until(() -> gateway.buy(late, sku, 1, "key-0001").code().equals("SOLD_OUT"));
    long elsewhere =
        LongStream.generate(stage::newUser)
            .filter(user -> Shards.of(user, 4) == 2)
            .findFirst()
            .orElseThrow();
    eventually().until(() -> gateway.buy(elsewhere, sku, 1, "key-0001").code().equals("SOLD_OUT"));
    eventually().until(() -> isSoldOut(late, sku));
    assertThat(addUnits(sku, 10).status()).isEqualTo(200);
    eventually("units that nobody has asked for yet").until(() -> !isSoldOut(late, sku));
    eventually() // a unit may move between two reads
        .untilAsserted(
            () -> {
              GatewayAnswer all = gateway.adminGet("/admin/v1/skus");
              List<JsonNode> shown =
                  all.json().path("skus").valueStream().filter(one -> isOf(one, sku)).toList();
              assertThat(shown).hasSize(1);
              // No order is stored.
              assertThat(shown.get(0).path("stock").asLong()).isEqualTo(units + 10);
              assertThat(shown.get(0).path("shards").asInt()).isEqualTo(4);
            });

    gateway.operate("POST", GatewayStage.admin(sku) + "/pause", null).expect(200);
    assertThat(Shards.ids(sku, 4))
        .allSatisfy(
            shard -> assertThat(redis.hget(RedisKeys.sku(shard), "state")).isEqualTo("PAUSED"));
    assertThat(gateway.buy(late, sku, 1, "key-0001").code()).isEqualTo("PAUSED");
  }

  /** Redis would not forget the stop, and carry it to MySQL when the sale was resumed long ago. */
  @Test
  void aFallbackOfASkuInShardsIsPausedInMySqlAlone() {
    long sku = stage.newSku();
    gateway.putOnSale(
        sku,
        GatewayStage.product(PurchasePolicy.ONE_PER_USER, 1, 100)
            .replace("\"stock\"", "\"shards\":2,\"stock\""));
    List<Long> shards = Shards.ids(sku, 2);
    shards.forEach(
        id ->
            stage.update(
                "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE' WHERE sku_id = ?", id));
    ProductCache products = gateway.bean(ProductCache.class);
    eventually().until(() -> shards.stream().allMatch(id -> products.decides(id) == Decider.MYSQL));

    assertThat(act(sku, "pause").text("state")).isEqualTo("PAUSED");

    assertThat(shards)
        .allSatisfy(
            id -> {
              assertThat(new SaleStates(redis).pendingStop(id)).isEmpty();
              assertThat(redis.hget(RedisKeys.sku(id), "state")).as("as before").isEqualTo("OPEN");
            });
    act(sku, "close");
  }

  private static boolean isSoldOut(long user, long sku) {
    return gateway.get(user, "/api/v1/skus/" + sku).json().path("soldOut").asBoolean();
  }

  private static GatewayAnswer addUnits(long sku, int units) {
    String body = "{\"delta\":%d,\"reason\":\"more came\"}".formatted(units);
    return gateway.send(
        gateway
            .admin(GatewayStage.admin(sku) + "/stock")
            .header("Authorization", TestGateway.operator())
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "top-up-" + sku)
            .POST(BodyPublishers.ofString(body)));
  }

  private static boolean isOf(JsonNode product, long sku) {
    return Shards.sku(product.path("skuId").asLong()) == sku;
  }

  private static void removeIfSold(List<Long> waiting, Long user, GatewayAnswer answer) {
    assertThat(answer.code()).isIn("202", "BUSY");
    if (answer.status() == 202) {
      waiting.remove(user);
    }
  }

  private static Instant instant(String ms) {
    return Instant.ofEpochMilli(Long.parseLong(ms));
  }

  @Test
  void letsASaleRunLongerAndEverythingOfItLiveLonger() {
    long sku = stage.newSku();
    Instant opens = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(60);
    Instant closes = opens.plus(1, ChronoUnit.DAYS);
    put(sku, opens, closes);
    act(sku, "preheat");
    act(sku, "open");
    long user = stage.newUser();
    gateway.buy(user, sku, 1, "key-before");
    Instant later = closes.plus(2, ChronoUnit.DAYS);

    assertThat(put(sku, opens, later).status()).isEqualTo(200);
    gateway.buy(user, sku, 1, "key-after");

    long end = later.plus(48, ChronoUnit.HOURS).toEpochMilli();
    int bucket =
        RedisKeys.bucketOf(user, Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount")));
    assertThat(redis.hmget(RedisKeys.sku(sku), "closesAt", "expiresAt"))
        .containsExactly(Long.toString(later.toEpochMilli()), Long.toString(end));
    assertThat(redis.pexpireTime(RedisKeys.sku(sku))).isEqualTo(end - 3_600_000L);
    assertThat(redis.pexpireTime(RedisKeys.stock(sku))).isEqualTo(end);
    assertThat(redis.pexpireTime(RedisKeys.bucket(sku, bucket))).isEqualTo(end);
    assertThat(put(sku, opens, later).status()).isEqualTo(200);
    assertThat(put(sku, opens, closes).code()).isEqualTo("IMMUTABLE_AFTER_PREHEAT");
  }

  @Test
  void completesAnExtensionThatWasCutShort() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long user = stage.newUser();
    gateway.buy(user, sku, 1, "key-before");
    String expiry = redis.hget(RedisKeys.sku(sku), "expiresAt");
    long later = Long.parseLong(expiry) + 3_600_000L;
    redis.hset(RedisKeys.sku(sku), "expiresAt", Long.toString(later)); // 'prepare', then a crash
    Instant opens = Instant.ofEpochMilli(Long.parseLong(redis.hget(RedisKeys.sku(sku), "opensAt")));
    Instant closes =
        Instant.ofEpochMilli(Long.parseLong(redis.hget(RedisKeys.sku(sku), "closesAt")));

    put(sku, opens, closes.plus(1, ChronoUnit.HOURS));

    int bucket =
        RedisKeys.bucketOf(user, Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount")));
    assertThat(redis.pexpireTime(RedisKeys.bucket(sku, bucket))).isEqualTo(later);
    assertThat(redis.pexpireTime(RedisKeys.stock(sku))).isEqualTo(later);
    assertThat(redis.pexpireTime(RedisKeys.sku(sku))).isEqualTo(later - 3_600_000L);
  }

  private static long product() {
    long sku = stage.newSku();
    String body = GatewayStage.product(PurchasePolicy.LIMITED, 5, 100);
    assertThat(gateway.operate("PUT", GatewayStage.admin(sku), body).status()).isEqualTo(201);
    return sku;
  }

  private static GatewayAnswer put(long sku, Instant opens, Instant closes) {
    return put(sku, 100, opens, closes);
  }

  private static GatewayAnswer put(long sku, long stock, Instant opens, Instant closes) {
    return gateway.operate(
        "PUT",
        GatewayStage.admin(sku),
        GatewayStage.product(
            PurchasePolicy.LIMITED, 5, stock, opens.toString(), closes.toString()));
  }

  private static GatewayAnswer act(long sku, String action) {
    return gateway.operate("POST", GatewayStage.admin(sku) + "/" + action, null);
  }

  private static String stateInMySql(long sku) {
    return stage.text("SELECT state FROM products WHERE sku_id = " + sku);
  }
}
