package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.shards.ShardLines;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

@ExtendWith(TestServers.class)
class PurchaseIT {

  /** Number of keys of a sale without purchases: its rules and its stock. */
  private static final int UNTOUCHED = 2;

  private static final long SHARDED = 2_001;
  private static final long COMPARED = 2_002;
  private static final long ENDED = 2_100;
  private static final long UNSHARDED = 1_004;

  private static UnifiedJedis redis;
  private static SeededDatabase database;
  private static TestGateway gateway;

  @BeforeAll
  static void start(RedisServer server, MySqlServer mysql) {
    RedisDatabase redisDatabase = server.newDatabase();
    redis = redisDatabase.open();
    database = SeededDatabase.create(mysql);
    gateway = database.gateway(redisDatabase.url());
  }

  @AfterAll
  static void stop() {
    gateway.close();
    redis.close();
  }

  @BeforeEach
  void emptyStore() {
    keysOfSales().forEach(redis::del);
  }

  /** All keys but those of the worker leases, which the gateway still holds. */
  private static List<String> keysOfSales() {
    return redis.keys("seckill:*").stream().filter(key -> !key.endsWith(":workers")).toList();
  }

  @Test
  void answersAPurchaseWithItsOrderAndPutsItInTheOutbox() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10);

    GatewayAnswer answer = gateway.buy(7, sale.sku(), 2, "key-0001");

    assertThat(answer.status()).as(answer.body()).isEqualTo(202);
    OrderMessage order = sale.outbox().get(0);
    assertThat(answer.body())
        .isEqualTo(
            "{\"orderId\":\""
                + order.orderId()
                + "\",\"status\":\"QUEUED\",\"position\":1,\"durableIn\":\"REDIS\"}");
    assertThat(answer.header("Location")).isEqualTo("/api/v1/orders/" + order.orderId());
    assertThat(answer.header("Idempotency-Key")).isEqualTo("key-0001");
    assertThat(answer.header("Content-Type")).isEqualTo("application/json");
    assertThat(answer.header("X-Correlation-Id")).isNotEmpty();
    assertThat(order.userId()).isEqualTo(7);
    assertThat(order.quantity()).isEqualTo(2);
    assertThat(sale.stock()).isEqualTo(8);
    assertThat(sale.quota(7)).isEqualTo("2");
  }

  @Test
  void answersARepeatWithTheSameOrderAndItsStatusOfNow() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 10);
    GatewayAnswer first = gateway.buy(7, sale.sku(), 1, "key-0001");
    String id = sale.outbox().get(0).orderId().toString();

    assertThat(gateway.buy(7, sale.sku(), 1, "key-0001").body()).isEqualTo(first.body());
    sale.writeRecord(7, id, "7|1|1|5|1|C|6");
    assertThat(gateway.buy(7, sale.sku(), 1, "key-0001").body())
        .isEqualTo(
            "{\"orderId\":\""
                + id
                + "\",\"status\":\"CONFIRMED\",\"position\":null,\"durableIn\":\"REDIS\"}");
  }

  @Test
  void theShardOfAShopperDecidesAndRefusesNothingThatIsLeftElsewhere() {
    List<TestSale> shards =
        Shards.ids(SHARDED, 4).stream()
            .map(id -> TestSale.open(redis, id, PurchasePolicy.LIMITED, 5, 0))
            .toList();
    database.shardedSale(SHARDED, 4);
    ProductCache products = gateway.bean(ProductCache.class);
    eventually().until(() -> products.shards(SHARDED) == 4);
    TestSale mine = find(shards, Shards.purchased(SHARDED, 7, 4));
    redis.sadd(RedisKeys.skus(mine.partition()), Long.toString(mine.sku()));

    // Nothing is proven: the purchase waits, asks for units, and is not decided.
    GatewayAnswer busy =
        eventually()
            .until(
                () -> gateway.buy(7, SHARDED, 2, "key-0001"),
                answer -> shards.stream().anyMatch(PurchaseIT::asks));
    assertProblem(busy, 503, "BUSY");
    assertThat(busy.header("Retry-After")).isEqualTo("1");
    assertThat(redis.hget(RedisKeys.sku(mine.sku()), "asked")).matches("2:\\d{13}@\\w+");
    assertThat(shards).filteredOn(shard -> shard != mine).allMatch(shard -> !asks(shard));

    // Units arrive while it waits.
    mine.with("elsewhere", "9:" + System.currentTimeMillis()).without("asked");
    CompletableFuture<GatewayAnswer> waiting =
        eventually()
            .until(
                () -> gateway.buyAsync(7, SHARDED, 2, "key-0001"),
                bought -> asksBeforeItIsAnswered(mine, bought));
    mine.stock(3);
    assertThat(waiting).succeedsWithin(Duration.ofSeconds(10));
    GatewayAnswer sold = gateway.buy(7, SHARDED, 2, "key-0001").expect(202);
    OrderMessage order = mine.outbox().get(0);
    assertThat(order.skuId()).isEqualTo(mine.sku());
    assertThat(mine.quota(7)).isEqualTo("2");
    assertThat(gateway.get(7, sold.header("Location")).expect(200).json().path("skuId").asLong())
        .isEqualTo(SHARDED);

    // Fewer units than it needs, then none, are proven for all shards, for a second.
    eventually().until(() -> codeWithElsewhere(mine, 1, 3).equals("TOO_FEW_LEFT"));
    mine.stock(0);
    eventually().until(() -> codeWithElsewhere(mine, 0, 1).equals("SOLD_OUT"));
    eventually().until(() -> gateway.buy(7, SHARDED, 1, "key-0003").code().equals("BUSY"));

    // The last units, or all but one, went to an earlier attempt with its key while it waited.
    for (int left = 0; left < 2; left++) {
      mine.stock(left);
      GatewayAnswer repeated =
          eventually()
              .until(() -> afterAnEarlierAttempt(mine, order), one -> !one.code().equals("BUSY"));
      assertThat(repeated.expect(202).json().path("orderId").asString())
          .isEqualTo(order.orderId().toString());
    }
  }

  private static GatewayAnswer afterAnEarlierAttempt(TestSale shard, OrderMessage admitted) {
    redis.hdel(shard.bucket(7), "7:key-0004");
    shard.with("elsewhere", "9:" + System.currentTimeMillis()).without("asked");
    CompletableFuture<GatewayAnswer> bought = gateway.buyAsync(7, SHARDED, 2, "key-0004");
    if (asksBeforeItIsAnswered(shard, bought)) {
      redis.hset(shard.bucket(7), "7:key-0004", admitted.orderId() + ":2");
      shard.with("elsewhere", "0:" + System.currentTimeMillis());
    }
    return Bounded.get(bought);
  }

  /** Purchases that one sale of all units refuses, or repeats: user, key, quantity, change. */
  private static final List<String> REFUSED =
      List.of(
          "a repeat,                      7, key-0001,   5, state,  OPEN",
          "a key with another quantity,   7, key-0001,   2, state,  OPEN",
          "a sale that is not open,       7, key-0002,   1, state,  PREHEATED",
          "a sale that is paused,         7, key-0002,   1, state,  PAUSED",
          "a sale that is closed,         7, key-0002,   1, state,  CLOSED",
          "more than an order may have,   7, key-0002, 101, state,  OPEN",
          "a user at the limit,           7, key-0002,   1, state,  OPEN",
          "more than the limit at once, 109, key-0003,   6, state,  OPEN",
          "more than is left of all,    109, key-0003,   4, limit,  99",
          "no limit and too few left,   109, key-0003,   4, policy, UNLIMITED");

  /**
   * A shard refuses for the reason for which one sale of all units would, also when it is empty and
   * the others are not, and when nothing is left. User 7 has bought 5 units, the limit.
   */
  @Test
  void aShardRefusesAsOneSaleOfAllUnits() {
    ProductCache products = gateway.bean(ProductCache.class);
    database.shardedSale(COMPARED, 4);
    eventually().until(() -> products.shards(COMPARED) == 4);
    assertThat(Shards.of(109, 4)).isEqualTo(Shards.of(7, 4));
    TestSale whole = boughtByUser7(UNSHARDED, UNSHARDED);
    TestSale shard = boughtByUser7(COMPARED, Shards.purchased(COMPARED, 7, 4));
    for (String line : REFUSED) {
      String[] one = line.split(", +", -1);
      whole.with(one[4], one[5]);
      shard.with(one[4], one[5]);
      long user = Long.parseLong(one[1]);
      int quantity = Integer.parseInt(one[3]);
      for (int[] spread : new int[][] {{3, 0}, {0, 3}, {2, 1}, {0, 0}}) {
        whole.stock(spread[0] + spread[1]);
        shard.stock(spread[0]);
        String expected = outcome(gateway.buy(user, UNSHARDED, quantity, one[2]));
        eventually()
            .pollDelay(Duration.ZERO)
            .untilAsserted(
                () -> {
                  shard.with("elsewhere", spread[1] + ":" + System.currentTimeMillis());
                  assertThat(outcome(gateway.buy(user, COMPARED, quantity, one[2])))
                      .as("%s: %d in the shard, %d outside", one[0], spread[0], spread[1])
                      .isEqualTo(expected);
                });
      }
    }
  }

  private static String outcome(GatewayAnswer answer) {
    return answer.status() == 202 ? "202" : answer.code();
  }

  private static TestSale boughtByUser7(long sku, long soldAs) {
    TestSale sale = TestSale.open(redis, soldAs, PurchasePolicy.LIMITED, 5, 5);
    redis.sadd(RedisKeys.skus(sale.partition()), Long.toString(soldAs));
    // A sale that MySQL has is not sold from until it is seen in Redis.
    eventually().until(() -> gateway.buy(7, sku, 5, "key-0001").status() == 202);
    return sale;
  }

  /** Redis has dropped its rules; at first the gateway still reads it, later it does not. */
  @ParameterizedTest
  @ValueSource(ints = {48, 72})
  void aSkuWithShardsThatEndedDaysAgoIsUnknown(int hours) {
    long ended = ENDED + hours;
    database.shardedSale(ended, 4);
    database.closed(ended, hours);

    GatewayAnswer answer =
        eventually()
            .until(() -> gateway.buy(7, ended, 1, "key-0001"), found -> found.status() != 503);

    assertProblem(answer, 404, "UNKNOWN_SKU");
  }

  /** None hides what another one needs, and none asks for longer than its purchases wait. */
  @Test
  void theDemandsOfSeveralGatewaysAddUp() {
    TestSale shard =
        TestSale.open(redis, Shards.id(SHARDED, 1), PurchasePolicy.UNLIMITED, 0, 0)
            .with("asked", "7:1790000000000@cccc");
    eventually()
        .until(
            () -> {
              List.of("9 200 aaaa", "1 5 bbbb", "2 0 bbbb")
                  .forEach(args -> ask(shard, args.split(" ")));
              return redis
                  .hget(RedisKeys.sku(shard.sku()), "asked")
                  .matches("2:\\d{13}@bbbb 9:\\d{13}@aaaa");
            });
  }

  /** Units are counted every few hundred ms; the other count is of before a jump of the clock. */
  @ParameterizedTest
  @ValueSource(longs = {-1_500, 60_000})
  void unitsElsewhereAreUnknownUnlessTheyWereCountedLately(long afterNow) {
    TestSale shard =
        TestSale.open(redis, Shards.id(SHARDED, 1), PurchasePolicy.UNLIMITED, 0, 4)
            .with("elsewhere", "0:" + (System.currentTimeMillis() + afterNow));

    assertThat(ask(shard, "9", "200", "aaaa")).isEqualTo(List.of(4L, -1L));
  }

  private static Object ask(TestSale shard, String... args) {
    return LuaScript.from(ShardLines.class, "ask.lua")
        .call(
            redis,
            List.of(RedisKeys.sku(shard.sku()), RedisKeys.stock(shard.sku())),
            List.of(args));
  }

  /** The code of a purchase just after the units outside the shard were counted. */
  private static String codeWithElsewhere(TestSale shard, long units, int quantity) {
    shard.with("elsewhere", units + ":" + System.currentTimeMillis());
    return gateway.buy(7, SHARDED, quantity, "key-0003").code();
  }

  private static boolean asks(TestSale shard) {
    return redis.hexists(RedisKeys.sku(shard.sku()), "asked");
  }

  /** Not on a machine so slow that the purchase has waited for too long before. */
  private static boolean asksBeforeItIsAnswered(
      TestSale shard, CompletableFuture<GatewayAnswer> bought) {
    eventually().until(() -> asks(shard) || bought.isDone());
    return asks(shard);
  }

  private static TestSale find(List<TestSale> shards, long id) {
    return shards.stream().filter(shard -> shard.sku() == id).findFirst().orElseThrow();
  }

  @Test
  void makesAKeyForAShopperWhoBringsNoneAndReturnsIt() {
    TestSale sale = TestSale.unlimited(redis, 10);

    GatewayAnswer answer = gateway.post(gateway.purchase(7, sale.sku()), "{\"quantity\":1}");

    String key = answer.header("Idempotency-Key");
    assertThat(answer.status()).isEqualTo(202);
    assertThat(key).matches("[A-Za-z0-9_-]{8,64}");
    assertThat(gateway.buy(7, sale.sku(), 1, key).body()).isEqualTo(answer.body());
  }

  @Test
  void passesTheTraceOfAPurchaseOn() {
    TestSale sale = TestSale.unlimited(redis, 10);
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    gateway.post(gateway.purchase(7, sale.sku()).header("traceparent", trace), "{\"quantity\":1}");
    gateway.post(gateway.purchase(8, sale.sku()).header("traceparent", "x\"y"), "{\"quantity\":1}");

    assertThat(sale.outbox()).extracting(OrderMessage::traceparent).containsExactly(trace, null);
  }

  @ParameterizedTest
  @CsvSource({
    "state,PREHEATED,409,NOT_OPEN",
    "state,PAUSED,409,PAUSED",
    "state,CLOSED,409,CLOSED",
    "maxPerOrder,1,400,INVALID_REQUEST",
    "bucketCount,x,503,ADMISSION_UNAVAILABLE"
  })
  void saysWhyNotWithAStableCode(String field, String value, int status, String code) {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10).with(field, value);

    assertProblem(gateway.buy(7, sale.sku(), 2, "key-0001"), status, code);
  }

  @Test
  void tellsQuotaStockAndKeyReuseApart() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 3);
    gateway.buy(7, sale.sku(), 2, "key-0001");

    assertProblem(gateway.buy(7, sale.sku(), 1, "key-0002"), 409, "QUOTA_EXCEEDED");
    assertProblem(gateway.buy(8, sale.sku(), 2, "key-0001"), 409, "TOO_FEW_LEFT");
    assertProblem(gateway.buy(7, sale.sku(), 1, "key-0001"), 422, "IDEMPOTENCY_KEY_REUSED");
    GatewayAnswer unknown = // the look-up in MySQL may be late on a busy machine
        eventually()
            .until(() -> gateway.buy(7, 1_033, 1, "key-0001"), answer -> answer.status() != 503);
    assertProblem(unknown, 404, "UNKNOWN_SKU");
  }

  @ParameterizedTest
  @MethodSource("badBodies")
  @DisplayName("Bad bodies get a clear answer and change nothing (facts.md, Request bodies)")
  void refusesABodyThatIsNotExactlyAQuantity(byte[] body) {
    TestSale sale = TestSale.unlimited(redis, 10_000);

    GatewayAnswer answer =
        gateway.send(
            gateway
                .purchase(7, sale.sku())
                .header("Idempotency-Key", "key-0001")
                .POST(BodyPublishers.ofByteArray(body)));

    assertProblem(answer, 400, "INVALID_REQUEST");
    assertThat(answer.body()).contains("\"detail\":\"The body must be a JSON object");
    assertThat(answer.text("field")).isEqualTo("quantity");
    assertThat(sale.stock()).isEqualTo(10_000);
    assertThat(keysOfSales()).hasSize(UNTOUCHED);
  }

  static Stream<byte[]> badBodies() {
    Stream<String> texts =
        Stream.of(
            "",
            " ",
            "null",
            "[]",
            "[1]",
            "1",
            "\"quantity\"",
            "{}",
            "{\"quantity\":null}",
            "{\"quantity\":true}",
            "{\"quantity\":\"5\"}",
            "{\"quantity\":[1]}",
            "{\"quantity\":{}}",
            "{\"quantity\":1.9}",
            "{\"quantity\":1.0}",
            "{\"quantity\":1e0}",
            "{\"quantity\":0}",
            "{\"quantity\":-0}",
            "{\"quantity\":-1}",
            "{\"quantity\":01}",
            "{\"quantity\":+1}",
            "{\"quantity\":0x1}",
            "{\"quantity\":NaN}",
            "{\"quantity\":10001}",
            "{\"quantity\":2147483648}",
            "{\"quantity\":4294967297}",
            "{\"quantity\":9223372036854775808}",
            "{\"quantity\":18446744073709551617}",
            "{\"quantity\":1" + "0".repeat(1_000) + "}",
            "{\"quantity\":1,\"quantity\":2}",
            "{\"quantity\":1,\"quantity\":1}",
            "{\"quantity\":1,\"userId\":8}",
            "{\"Quantity\":1}",
            "{\"quantity\":1}x",
            "{\"quantity\":1}{}",
            "{\"quantity\":1},",
            "{\"quantity\":1,}",
            "{\"quantity\":1",
            "{quantity:1}",
            "{'quantity':1}",
            "{/**/\"quantity\":1}",
            "quantity=1",
            "[".repeat(2_000));
    Stream<byte[]> others =
        Stream.of(
            "{\"quantity\":1}".getBytes(StandardCharsets.UTF_16LE),
            "{\"quantity\":1}".getBytes(StandardCharsets.UTF_16),
            "{\"quantity\":1}".getBytes(Charset.forName("UTF-32BE")),
            new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'},
            new byte[] {'{', '"', (byte) 0xc0, (byte) 0xaf, '"', ':', '1', '}'},
            new byte[] {0},
            new byte[4_096]);
    return Stream.concat(texts.map(text -> text.getBytes(StandardCharsets.UTF_8)), others);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "short",
        "1234567",
        "has space",
        "key-0001;x",
        "{key-0001}",
        "key:0001",
        "kéy-00001",
        "12345678901234567890123456789012345678901234567890123456789012345"
      })
  void refusesAnIdempotencyKeyThatIsNoWord(String key) {
    TestSale sale = TestSale.unlimited(redis, 10);

    GatewayAnswer answer =
        gateway.post(
            gateway.purchase(7, sale.sku()).header("Idempotency-Key", key), "{\"quantity\":1}");

    assertProblem(answer, 400, "INVALID_REQUEST");
    assertThat(answer.text("field")).isEqualTo("Idempotency-Key");
    assertThat(keysOfSales()).hasSize(UNTOUCHED);
  }

  @Test
  void refusesTwoIdempotencyKeys() {
    TestSale sale = TestSale.unlimited(redis, 10);

    assertProblem(
        gateway.post(
            gateway
                .purchase(7, sale.sku())
                .header("Idempotency-Key", "key-0001")
                .header("Idempotency-Key", "key-0002"),
            "{\"quantity\":1}"),
        400,
        "INVALID_REQUEST");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "+1",
        "01",
        "1.9",
        "abc",
        "4503599627370496", // the first id of shards
        "4503599627402512",
        "9007199254740990",
        "9007199254740992",
        "9223372036854775808",
        "%7B0%7D",
        "1%0d%0a",
        "null",
        "1001%20",
        "1_0"
      })
  void refusesASkuThatIsNoNumber(String sku) {
    GatewayAnswer answer =
        gateway.post(
            gateway
                .shop("/api/v1/skus/" + sku + "/orders")
                .header("Authorization", TestGateway.shopper(7)),
            "{\"quantity\":1}");

    assertProblem(answer, 400, "INVALID_REQUEST");
    assertThat(answer.text("field")).isEqualTo("skuId");
  }

  @Test
  void neverTakesTheUserFromAnywhereButTheToken() {
    TestSale sale = TestSale.unlimited(redis, 10);

    gateway.post(gateway.purchase(7, sale.sku()).header("X-User-Id", "8"), "{\"quantity\":1}");

    assertThat(sale.outbox()).extracting(OrderMessage::userId).containsExactly(7L);
  }

  /** What a request adds to: purchases and one outcome of these, or requests refused by a code. */
  @Test
  void countsEachRequestOnceAsAPurchaseOrAsRefused() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 10);
    String path = "/api/v1/skus/" + sale.sku() + "/orders";
    String one = "{\"quantity\":1}";
    String operator = TestGateway.operator();

    assertCounts("seckill.admitted", () -> gateway.buy(7, sale.sku(), 1, "key-0001"));
    assertCounts("seckill.idempotent.hits", () -> gateway.buy(7, sale.sku(), 1, "key-0001"));
    assertCounts("quota_exceeded", () -> gateway.buy(7, sale.sku(), 1, "key-0002"));
    assertCounts("unknown_sku", () -> gateway.buy(7, 987_654_321, 1, "key-0003"));
    assertCounts("INVALID_REQUEST", () -> gateway.buy(7, sale.sku(), 1, "short"));
    assertCounts("INVALID_REQUEST", () -> gateway.buy(7, sale.sku(), 0, "key-0004"));
    assertCounts("INVALID_REQUEST", () -> gateway.buy(7, 0, 1, "key-0005"));
    assertCounts("UNAUTHORIZED", () -> gateway.post(gateway.shop(path), one));
    assertCounts(
        "FORBIDDEN", () -> gateway.post(gateway.shop(path).header("Authorization", operator), one));
    assertCounts(
        "PAYLOAD_TOO_LARGE",
        () -> gateway.post(gateway.purchase(7, sale.sku()), one + " ".repeat(5_000)));
    assertCounts("UNAUTHORIZED", () -> gateway.send(gateway.shop("/api/v1/orders/1").GET()));
    assertCounts("UNAUTHORIZED", () -> gateway.send(gateway.shop("/api/v1/orders").GET()));
    MeterRegistry meters = gateway.bean(MeterRegistry.class);
    assertThat(meters.get("seckill.admission.latency").timer().count()).isPositive();
    assertThat(gateway.gauge("seckill.queue.depth", "queue", "admit")).isZero();
    assertSummaryHas(counters());
  }

  /** The same numbers, each under its own name. */
  private static void assertSummaryHas(Map<String, Double> counters) {
    JsonNode summary = gateway.adminGet("/api/v1/metrics/summary").json();
    Map.of(
            "/purchases", "seckill.purchases",
            "/admitted", "seckill.admitted",
            "/confirmed", "seckill.confirmed",
            "/idempotentHits", "seckill.idempotent.hits",
            "/busy", "seckill.busy",
            "/shield/hits", "seckill.shield.hits",
            "/shield/misses", "seckill.shield.misses",
            "/refused/quota_exceeded", "quota_exceeded",
            "/refusedRequests/FORBIDDEN", "FORBIDDEN")
        .forEach(
            (pointer, counter) ->
                assertThat(summary.at(pointer).asDouble())
                    .as(pointer)
                    .isEqualTo(counters.get(counter)));
  }

  private static void assertCounts(String expected, Supplier<GatewayAnswer> request) {
    Map<String, Double> before = new TreeMap<>();
    GatewayAnswer.available(
        () -> {
          before.putAll(counters());
          return request.get();
        });
    Map<String, Double> changed = counters();
    changed.entrySet().removeIf(now -> now.getValue().equals(before.get(now.getKey())));
    changed.keySet().remove("seckill.shield.misses");

    boolean isPurchase = changed.keySet().remove("seckill.purchases");
    assertThat(changed).containsOnlyKeys(expected);
    assertThat(changed.get(expected)).isEqualTo(before.get(expected) + 1);
    assertThat(isPurchase).as(expected).isEqualTo(Character.isLowerCase(expected.charAt(0)));
  }

  /** The counters of purchases and of refused requests, by their tag if they have one. */
  private static Map<String, Double> counters() {
    Map<String, Double> counters = new TreeMap<>();
    for (Meter meter : gateway.bean(MeterRegistry.class).getMeters()) {
      String name = meter.getId().getName();
      if (meter instanceof Counter counter
          && !name.startsWith("seckill.redis")
          && name.matches("seckill[.](?!breaker|order|relay).*")) {
        List<Tag> tags = meter.getId().getTags();
        counters.put(tags.isEmpty() ? name : tags.get(0).getValue(), counter.count());
      }
    }
    return counters;
  }

  private static void assertProblem(GatewayAnswer answer, int status, String code) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(answer.body()).contains("\"code\":\"" + code + "\"", "\"status\":" + status);
    assertThat(answer.text("field").isEmpty()).as(answer.body()).isEqualTo(status != 400);
    assertThat(answer.header("X-Correlation-Id")).isNotEmpty();
    assertThat(answer.header("Retry-After").isEmpty()).isEqualTo(status != 503 && status != 429);
  }

  @Test
  void refusesFromMemoryOnlyAPurchaseThatCannotBeARepeat() {
    // A SKU of its own: the shield covers it for the rest of the tests.
    TestSale sale = TestSale.open(redis, 1_049, PurchasePolicy.UNLIMITED, 0, 1);
    gateway.buy(1, sale.sku(), 1, "key-0001");
    assertProblem(gateway.buy(2, sale.sku(), 1, "key-0002"), 409, "SOLD_OUT");
    sale.stock(1);
    Calls elsewhere = new Calls(redis);
    elsewhere.one(Calls.attempt(sale, 3, "key-0003", 1));
    MeterRegistry meters = gateway.bean(MeterRegistry.class);
    double hits = meters.get("seckill.shield.hits").counter().count();
    SoldOutShield shield = gateway.bean(SoldOutShield.class);
    long inAMinute = System.nanoTime() + Duration.ofMinutes(1).toNanos();

    shield.raise(sale.sku(), inAMinute);
    assertThat(gateway.buy(1, sale.sku(), 1, "key-0001").status()).isEqualTo(202);
    assertThat(gateway.buy(3, sale.sku(), 1, "key-0003").status()).isEqualTo(202);
    assertProblem(gateway.buy(3, sale.sku(), 2, "key-0003"), 422, "IDEMPOTENCY_KEY_REUSED");
    assertProblem(gateway.buy(4, sale.sku(), 1, "key-0004"), 409, "SOLD_OUT");

    sale.stock(1);
    assertProblem(
        gateway.post(gateway.purchase(5, sale.sku()), "{\"quantity\":1}"), 409, "SOLD_OUT");
    assertThat(gateway.buy(6, sale.sku(), 1, "key-0006").status())
        .as("Redis decides on a purchase with a key")
        .isEqualTo(202);
    assertThat(meters.get("seckill.shield.hits").counter().count()).isEqualTo(hits + 1);
  }
}
