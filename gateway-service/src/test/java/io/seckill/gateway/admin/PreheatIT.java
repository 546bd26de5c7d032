package io.seckill.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.OrderTotalSql;
import io.seckill.testing.TestServers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

/** Preheat through the real order-consumer, on real stores. */
@ExtendWith(TestServers.class)
class PreheatIT {

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();
  private static final UnifiedJedis redis = stage.redis();

  @Test
  void loadsRulesAndStockUnderTheNewEpoch() {
    long sku = product(PurchasePolicy.LIMITED, 5, 1_000);

    GatewayAnswer answer = preheat(sku);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.text("state")).isEqualTo("PREHEATED");
    Map<String, String> rules = redis.hgetAll(RedisKeys.sku(sku));
    assertThat(rules)
        .containsEntry("policy", "LIMITED")
        .containsEntry("limit", "5")
        .containsEntry("maxPerOrder", "100")
        .containsEntry("state", "PREHEATED")
        .containsEntry("epoch", "1")
        .containsEntry("seq", "0")
        .containsEntry("settled", "0")
        .doesNotContainKeys("loading", "clearing");
    assertThat(redis.get(RedisKeys.stock(sku))).isEqualTo("1000");
    assertThat(redis.smembers(RedisKeys.skus(Partition.ofSku(sku)))).contains(Long.toString(sku));
  }

  @ParameterizedTest
  @CsvSource({"0, 256", "7168, 256", "7169, 257"})
  void splitsHashesSoThatTheyStayPacked(long stock, String buckets) { // facts.md 13
    long sku = product(PurchasePolicy.UNLIMITED, 0, stock);
    preheat(sku);

    assertThat(redis.hget(RedisKeys.sku(sku), "bucketCount")).isEqualTo(buckets);
  }

  @Test
  void letsTheRulesExpireFirstAndTheRest48HoursAfterClosing() { // facts.md 11
    long sku = product(PurchasePolicy.LIMITED, 5, 100);
    preheat(sku);
    open(sku);
    long user = stage.newUser();
    gateway.buy(user, sku, 1, "key-for-expiry");

    long closes = Long.parseLong(redis.hget(RedisKeys.sku(sku), "closesAt"));
    long end = closes + 48 * 3_600_000L;
    int bucket = bucketOf(sku, user);
    assertThat(redis.hget(RedisKeys.sku(sku), "expiresAt")).isEqualTo(Long.toString(end));
    assertThat(redis.pexpireTime(RedisKeys.sku(sku))).isEqualTo(end - 3_600_000L);
    assertThat(redis.pexpireTime(RedisKeys.stock(sku))).isEqualTo(end);
    assertThat(redis.pexpireTime(RedisKeys.bucket(sku, bucket))).isEqualTo(end);
    assertThat(redis.pexpireTime(RedisKeys.skus(Partition.ofSku(sku)))).isGreaterThanOrEqualTo(end);
  }

  @Test
  void keepsWhatUsersOwnAndWhatTheyAskedForWhenItPreheatsAgain() { // I3, I9, I12
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 1_000);
    close(sku);
    long owner = stage.newUser();
    long leaver = stage.newUser();
    OrderId confirmed = store(sku, owner, "key-confirmed", 4, 1, "CONFIRMED", null);
    OrderId rejected = store(sku, leaver, "key-rejected", 2, 2, "REJECTED", "SOLD_OUT");
    OrderId cancelled = store(sku, leaver, "key-cancelled", 1, 3, "CANCELLED", null);
    own(sku, owner, 4, 5);
    own(sku, leaver, 0, 5);
    settled(sku, 996, 3);
    redis.hset(RedisKeys.bucket(sku, 0), "999:", "3"); // of the old epoch, and wrong

    GatewayAnswer answer = preheat(sku);
    open(sku);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(redis.get(RedisKeys.stock(sku))).isEqualTo("996");
    assertThat(quota(sku, owner)).isEqualTo("4");
    assertThat(quota(sku, leaver)).isNull();
    assertThat(redis.hget(RedisKeys.bucket(sku, 0), "999:")).isNull();
    assertThat(redis.hmget(RedisKeys.sku(sku), "seq", "settled", "admittedOrders", "admittedUnits"))
        .containsExactly("3", "3", "3", "7");
    assertThat(buy(owner, sku, 2, "key-too-much").code()).isEqualTo("QUOTA_EXCEEDED");
    assertThat(buy(owner, sku, 4, "key-confirmed").text("orderId")).isEqualTo(confirmed.toString());
    assertThat(buy(owner, sku, 3, "key-confirmed").code()).isEqualTo("IDEMPOTENCY_KEY_REUSED");
    assertThat(buy(leaver, sku, 2, "key-rejected").text("orderId")).isEqualTo(rejected.toString());
    assertThat(status(owner, confirmed)).isEqualTo("CONFIRMED");
    assertThat(status(leaver, rejected)).isEqualTo("REJECTED");
    assertThat(status(leaver, cancelled)).isEqualTo("CANCELLED");
  }

  @Test
  void loadsMoreThanOnePipelineOfEarlierOrders() {
    long sku = stage.onSale(PurchasePolicy.ONE_PER_USER, 1, 20_000);
    close(sku);
    stage
        .mysql()
        .sql(
            """
            INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,
                status, single_buyer, epoch, seq, admitted_at)
            SELECT :base + seq, 1000000 + seq, :sku, 1, 100, CONCAT('request-', seq), 'PAID',
                1000000 + seq, 1, seq, UTC_TIMESTAMP(3) FROM (%s) numbers
            """
                .formatted(numbersTo(10_000)))
        .param("base", orderId(sku, 0).value())
        .param("sku", sku)
        .update();
    stage.update(
        "INSERT INTO user_quota SELECT user_id, sku_id, 1, 1 FROM orders WHERE sku_id = " + sku);
    stage.update( // it is read, and not loaded
        "UPDATE user_quota SET owned_count = 0 WHERE sku_id = " + sku + " AND user_id = 1000002");
    settled(sku, 10_000, 10_000);

    assertThat(preheat(sku).status()).isEqualTo(200);

    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount"));
    List<String> fields = new ArrayList<>();
    for (int b = 0; b < buckets; b++) {
      fields.addAll(redis.hkeys(RedisKeys.bucket(sku, b)));
    }
    assertThat(fields).filteredOn(field -> field.matches("\\d+")).as("orders").hasSize(10_000);
    assertThat(fields).filteredOn(field -> field.matches("\\d+:")).as("quotas").hasSize(9_999);
    assertThat(fields)
        .filteredOn(field -> field.matches("\\d+:request-\\d+"))
        .as("requests")
        .hasSize(10_000);
    assertThat(fields).hasSize(29_999);
    assertThat(redis.objectEncoding(RedisKeys.bucket(sku, 1))).isEqualTo("listpack");
  }

  @Test
  void removesTheBucketsThatTheNewEpochDoesNotHave() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    close(sku);
    redis.hset(RedisKeys.sku(sku), "bucketCount", "1200");
    redis.hset(RedisKeys.bucket(sku, 1_199), "1", "old");
    redis.hset(RedisKeys.bucket(sku, 1_130), "compensated:1", "1:1");

    preheat(sku);

    assertThat(redis.exists(RedisKeys.bucket(sku, 1_199))).isFalse();
    assertThat(redis.exists(RedisKeys.bucket(sku, 1_130))).isFalse();
  }

  @Test
  void admitsNothingFromAnUnfinishedPreheatAndCompletesItWhenRepeated() {
    long sku = product(PurchasePolicy.LIMITED, 5, 100);
    preheat(sku);
    redis.del(RedisKeys.stock(sku)); // begins to load epoch 2, then order-consumer dies
    redis.hset(RedisKeys.sku(sku), Map.of("state", "PREHEATING", "epoch", "0", "loading", "2"));

    assertThat(gateway.operate("POST", GatewayStage.admin(sku) + "/open", null).code())
        .isEqualTo("NOT_PREHEATED");
    assertThat(gateway.buy(stage.newUser(), sku, 1, "key-unfinished").status()).isIn(409, 503);

    setEpochInMySql(sku, 2);
    assertThat(preheat(sku).status()).isEqualTo(200);
    open(sku);
    assertThat(gateway.buy(stage.newUser(), sku, 1, "key-finished").status()).isEqualTo(202);
  }

  @Test
  void refusesForeignKeysBeforeItWrites() { // facts.md 1, fault 9
    long sku = product(PurchasePolicy.LIMITED, 5, 100);
    redis.lpush(RedisKeys.stock(sku), "what is this");

    GatewayAnswer answer = preheat(sku);

    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.code()).isEqualTo("FOREIGN_KEY");
    assertThat(redis.exists(RedisKeys.sku(sku))).isFalse();
    redis.del(RedisKeys.stock(sku));
    assertThat(preheat(sku).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void refusesForeignKeysBeforeMySqlRaisesTheEpoch(boolean inPlaceOfTheRules) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    close(sku);
    String key = inPlaceOfTheRules ? RedisKeys.sku(sku) : RedisKeys.stockChanges(sku);
    redis.set(key, "what is this");

    GatewayAnswer answer = preheat(sku);
    redis.del(key);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(409);
    assertThat(answer.code()).isEqualTo("FOREIGN_KEY");
    assertThat(
            stage
                .mysql()
                .sql("SELECT state, epoch FROM products WHERE sku_id = ?")
                .param(sku)
                .query((row, n) -> row.getString(1) + " " + row.getLong(2))
                .single())
        .isEqualTo("CLOSED 1");
  }

  private static long product(PurchasePolicy policy, int limit, long stock) {
    long sku = stage.newSku();
    GatewayAnswer answer =
        gateway.operate("PUT", GatewayStage.admin(sku), GatewayStage.product(policy, limit, stock));
    assertThat(answer.status()).as(answer.toString()).isEqualTo(201);
    return sku;
  }

  private static GatewayAnswer preheat(long sku) {
    return gateway.operate("POST", GatewayStage.admin(sku) + "/preheat", null);
  }

  private static void open(long sku) {
    GatewayAnswer answer = gateway.operate("POST", GatewayStage.admin(sku) + "/open", null);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
  }

  private static void close(long sku) {
    GatewayAnswer answer = gateway.operate("POST", GatewayStage.admin(sku) + "/close", null);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
  }

  /** MySQL and Redis may have been compared while this preheat had only reached MySQL. */
  private static GatewayAnswer buy(long user, long sku, int quantity, String key) {
    return GatewayAnswer.available(() -> gateway.buy(user, sku, quantity, key));
  }

  private static String status(long user, OrderId order) {
    return gateway.get(user, "/api/v1/orders/" + order).text("status");
  }

  private static String quota(long sku, long user) {
    return redis.hget(RedisKeys.bucket(sku, bucketOf(sku, user)), RedisKeys.quotaField(user));
  }

  private static int bucketOf(long sku, long user) {
    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount"));
    return RedisKeys.bucketOf(user, buckets);
  }

  private static void setEpochInMySql(long sku, long epoch) {
    stage.update("UPDATE products SET epoch = ? WHERE sku_id = ?", epoch, sku);
  }

  private static OrderId orderId(long sku, int sequence) {
    return OrderId.of(
        Instant.parse("2026-01-01T00:00:00Z").toEpochMilli(), Partition.ofSku(sku), 0, sequence);
  }

  private static OrderId store(
      long sku, long user, String key, int quantity, int seq, String status, String reason) {
    OrderId id = OrderId.of(System.currentTimeMillis(), Partition.ofSku(sku), 200, seq);
    stage.update(
        """
        INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,
            status, reason, epoch, seq, admitted_at)
        VALUES (?, ?, ?, ?, 100, ?, ?, ?, 1, ?, UTC_TIMESTAMP(3))
        """,
        id.value(),
        user,
        sku,
        quantity,
        key,
        status,
        reason,
        seq);
    return id;
  }

  private static void own(long sku, long user, int units, int limit) {
    stage.update("INSERT INTO user_quota VALUES (?, ?, ?, ?)", user, sku, units, limit);
  }

  /** Writes the stock and the number of settled orders; in Redis, as many are admitted. */
  private static void settled(long sku, long stock, int orders) {
    redis.hset(RedisKeys.sku(sku), "seq", Integer.toString(orders)); // first: else it lacks them
    redis.hset(RedisKeys.sku(sku), "settled", Integer.toString(orders));
    stage.update(
        "UPDATE products SET stock = ?, last_seq = ?, settled = ? WHERE sku_id = ?",
        stock,
        orders,
        orders,
        sku);
    stage.update(OrderTotalSql.count(sku));
  }

  private static String numbersTo(int n) {
    return "SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 1 AS seq FROM "
        + "(%1$s) a, (%1$s) b, (%1$s) c, (%1$s) d HAVING seq <= %2$d"
            .formatted(
                "SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION"
                    + " SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9",
                n);
  }
}
