package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.testing.ConsumerProcess;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.gateway.web.SlowConsumer;
import io.seckill.support.contract.ProductRow;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.Closeable;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

/**
 * Purchases of strong sales, as the gateway sends them and answers them. The test decides what
 * order-consumer answers; the system tests use the real one.
 */
@ExtendWith(TestServers.class)
class StrongSaleIT {

  /** In partition 1, like {@link #BESIDE}; and one in partition 2. */
  private static final long STRONG = 2_001;

  private static final long BESIDE = 2_017;
  private static final long ELSEWHERE = 2_002;
  private static final long SHARDED = 2_003;
  private static final long USER = 7;

  private static final OrderId ID =
      OrderId.of(1_790_000_000_000L, Partition.ofSku(STRONG), OrderId.MYSQL_WORKER, 1);

  /** Longer than a test keeps order-consumer's answer back. */
  private static final String PATIENT = "seckill.consumer.timeout=60s";

  private static SeededDatabase database;
  private static String redisUrl;
  private static SlowConsumer consumer;
  private static TestGateway gateway;

  @BeforeAll
  static void start(RedisServer server, MySqlServer mysql) throws IOException {
    redisUrl = server.newDatabase().url();
    database = SeededDatabase.create(mysql);
    for (long sku : List.of(STRONG, BESIDE, ELSEWHERE)) {
      database.strongSale(sku, "OPEN", 5);
    }
    consumer = SlowConsumer.start();
    gateway = database.gateway(redisUrl, PATIENT, consumerUrl(consumer));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    consumer.close();
  }

  private static String consumerUrl(SlowConsumer consumer) {
    return "seckill.consumer.url=" + consumer.url();
  }

  @Test
  void sendsAPurchaseToOrderConsumerAndAnswersItsConfirmedOrder() throws Exception {
    double confirmed = count("seckill.confirmed");
    CompletableFuture<GatewayAnswer> bought = buy(gateway, STRONG, "key-0001");
    SlowConsumer.Asked asked = consumer.next();

    assertThat(asked.text())
        .isEqualTo(
            "POST /internal/v1/purchases {\"purchases\":[{\"skuId\":2001,\"userId\":7,"
                + "\"requestId\":\"key-0001\",\"quantity\":1,\"traceparent\":null}]}");
    assertThat(asked.exchange().getRequestHeaders().getFirst("Authorization"))
        .isEqualTo("Bearer " + ConsumerProcess.TOKEN);
    asked.answer(200, order("CONFIRMED", "CONFIRMED"));

    GatewayAnswer answer = Bounded.get(bought);
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    assertThat(answer.body())
        .isEqualTo(
            "{\"orderId\":\""
                + ID
                + "\",\"status\":\"CONFIRMED\",\"position\":null,\"durableIn\":\"MYSQL\"}");
    assertThat(answer.header("Location")).isEqualTo("/api/v1/orders/" + ID);
    assertThat(answer.header("Idempotency-Key")).isEqualTo("key-0001");
    assertThat(count("seckill.confirmed")).isEqualTo(confirmed + 1);
    assertThat(meters().get("seckill.strong.latency").timer().count()).isPositive();
    assertThat(meters().get("seckill.queue.depth").tag("queue", "strong").gauge().value()).isZero();
  }

  @Test
  void answersARepeatLikeTheFirstTimeWithTheOrdersPresentStatus() throws Exception {
    double repeated = count("seckill.idempotent.hits");

    GatewayAnswer answer = decided(200, order("REPEATED", "PAID"));

    assertThat(answer.status()).isEqualTo(201);
    assertThat(answer.body())
        .contains("\"orderId\":\"" + ID + "\",\"status\":\"PAID\",\"position\":null");
    assertThat(count("seckill.idempotent.hits")).isEqualTo(repeated + 1);
  }

  @ParameterizedTest
  @CsvSource({
    "UNKNOWN_SKU, 404, UNKNOWN_SKU",
    "NOT_OPEN, 409, NOT_OPEN",
    "PAUSED, 409, PAUSED",
    "CLOSED, 409, CLOSED",
    "QUANTITY, 400, INVALID_REQUEST",
    "QUOTA_EXCEEDED, 409, QUOTA_EXCEEDED",
    "SOLD_OUT, 409, SOLD_OUT",
    "TOO_FEW_LEFT, 409, TOO_FEW_LEFT",
    "IDEMPOTENCY_KEY_REUSED, 422, IDEMPOTENCY_KEY_REUSED",
    "BUSY, 503, BUSY",
    "UNKNOWN, 503, ADMISSION_UNAVAILABLE"
  })
  void answersWhatOrderConsumerDecides(String outcome, int status, String code) throws Exception {
    assertProblem(decided(200, outcome(outcome)), status, code);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | not json at all",
        "200 | {}",
        "200 | {\"outcomes\":[]}",
        "200 | {\"outcomes\":[{\"outcome\":\"SOLD_OUT\"},{\"outcome\":\"SOLD_OUT\"}]}",
        "200 | {\"outcomes\":[{\"outcome\":\"CONFIRMED\"}]}",
        "200 | {\"outcomes\":[{\"outcome\":\"PERHAPS\"}]}",
        "400 | {\"code\":\"INVALID_REQUEST\"}",
        "401 | {\"code\":\"UNAUTHORIZED\"}",
        "404 | {\"code\":\"NOT_FOUND\"}",
        "500 | {}",
        "503 | {\"code\":\"UNAVAILABLE\"}",
      })
  void takesNoNonsenseForADecision(int status, String body) throws Exception {
    GatewayAnswer answer = decided(status, body);

    assertProblem(answer, 503, "ADMISSION_UNAVAILABLE");
    assertThat(answer.header("Idempotency-Key")).isEqualTo("key-0001");
  }

  @Test
  void aPurchaseThatOrderConsumerIsTooBusyForTookNothing() throws Exception {
    assertProblem(decided(503, "{\"code\":\"BUSY\"}"), 503, "BUSY");
  }

  /** Another gateway has passed the operator's calls on. */
  @Test
  void doesNotTakeASaleItHasNotReadYetForAnUnknownOne() throws Exception {
    for (long sku = 3_001; sku <= 3_004; sku++) { // the products are read once a second
      long unknown = sku;
      assertProblem(GatewayAnswer.available(() -> bought(unknown)), 404, "UNKNOWN_SKU");
      database.strongSale(sku, "OPEN", 5);

      assertThat(bought(sku).status()).as("503 until it is known").isIn(503, 409);
    }
    eventually().until(() -> gateway.bean(ProductCache.class).lastRead(3_004) != null);
    assertProblem(bought(3_004), 409, "SOLD_OUT");
  }

  /** Redis has never had the sale, or has forgotten it, and the products are read without it. */
  @Test
  void passesAPurchaseOfASaleThatEndedLongAgoOn() throws Exception {
    database.strongSale(4_001, "CLOSED", 5);
    database.archivedSale(4_002, 4);
    for (long sku : List.of(4_001L, 4_002L)) {
      database.closed(sku, 40 * 24);
    }
    long shard = Shards.purchased(4_002, USER, 4);

    assertThat(askedFor(4_001, outcome("CLOSED"), 409)).contains("\"skuId\":4001,");
    assertThat(askedFor(4_001, order("REPEATED", "PAID"), 201)).contains("\"skuId\":4001,");
    assertThat(askedFor(4_002, outcome("CLOSED"), 409)).contains("\"skuId\":" + shard + ",");
    assertThat(askedFor(4_002, outcome("CLOSED"), 409)).contains("\"skuId\":" + shard + ",");
  }

  /** What order-consumer is asked for by a purchase that has this status after its answer. */
  private static String askedFor(long sku, String answer, int status) throws Exception {
    CompletableFuture<GatewayAnswer> bought = buy(gateway, sku, "key-0001");
    eventually().until(() -> bought.isDone() || consumer.waiting() > 0);
    assertThat(bought).as("the answer without order-consumer").isNotDone();
    SlowConsumer.Asked asked = consumer.next();
    String text = asked.text();
    asked.answer(200, answer);
    assertThat(Bounded.get(bought).status()).as(Bounded.get(bought).body()).isEqualTo(status);
    return text;
  }

  /** A shard has no unit left; of the others nothing is certain without a read of the last 2 s. */
  @Test
  void refusesNoPurchaseOfAShardInAFallbackWhileUnitsMayBeLeft() throws Exception {
    ProductCache products = gateway.bean(ProductCache.class);
    database.shardedFallback(SHARDED, 2, 100);
    eventually().until(() -> inMySql(products, 200));
    assertProblem(bought(SHARDED), 503, "BUSY");

    database.shardedFallback(SHARDED, 2, 0);
    eventually().until(() -> inMySql(products, 0));
    assertProblem(GatewayAnswer.available(() -> bought(SHARDED)), 409, "SOLD_OUT");

    Closeable lock = database.lockProducts();
    try {
      eventually().until(() -> products.freshlyRead(SHARDED) == null);
      assertProblem(bought(SHARDED), 503, "BUSY");
    } finally {
      lock.close();
    }
  }

  private static boolean inMySql(ProductCache products, long units) {
    ProductRow sku = products.lastRead(SHARDED);
    return sku != null
        && sku.stock() == units
        && Shards.ids(SHARDED, 2).stream().allMatch(id -> products.decides(id) == Decider.MYSQL);
  }

  /** The answer to a purchase that order-consumer would refuse as sold out. */
  private static GatewayAnswer bought(long sku) throws Exception {
    CompletableFuture<GatewayAnswer> bought = buy(gateway, sku, "key-0001");
    eventually().until(() -> bought.isDone() || consumer.waiting() > 0);
    if (!bought.isDone()) {
      consumer.next().answer(200, outcome("SOLD_OUT"));
    }
    return Bounded.get(bought);
  }

  @Test
  void doesNotKnowTheOutcomeWhenTheConnectionIsCut() throws Exception {
    CompletableFuture<GatewayAnswer> bought = buy(gateway, STRONG, "key-0001");
    consumer.next().hangUp();

    assertProblem(Bounded.get(bought), 503, "ADMISSION_UNAVAILABLE");
  }

  @Test
  void doesNotKnowTheOutcomeWhenNobodyListens() {
    try (TestGateway alone = database.gateway(redisUrl, PATIENT)) {
      assertProblem(alone.buy(USER, STRONG, 1, "key-0001"), 503, "ADMISSION_UNAVAILABLE");
    }
  }

  @Test
  void answersInTimeWhileOrderConsumerIsSilent() throws Exception {
    SlowConsumer silent = SlowConsumer.start();
    try (TestGateway own =
        database.gateway(
            redisUrl, PATIENT, "seckill.admission.answer-within=1s", consumerUrl(silent))) {
      assertProblem(own.buy(USER, STRONG, 1, "key-0001"), 503, "ADMISSION_UNAVAILABLE");
    } finally {
      silent.close();
    }
  }

  @Test
  void leavesOtherSalesTheirThreadsWhileOneHangs() throws Exception {
    List<CompletableFuture<GatewayAnswer>> bought = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      bought.add(buy(gateway, i % 2 == 0 ? STRONG : BESIDE, "key-100" + i));
      eventually().until(() -> consumer.waiting() == 1);
    }
    bought.add(buy(gateway, ELSEWHERE, "key-1006"));

    eventually().until(() -> consumer.waiting() == 2);
    eventually().during(Duration.ofMillis(300)).until(() -> consumer.waiting() == 2);
    for (int answered = 0; answered < 7; ) {
      SlowConsumer.Asked asked = consumer.next();
      int purchases = asked.text().split("skuId", -1).length - 1;
      asked.answer(200, outcomes("SOLD_OUT", purchases));
      answered += purchases;
    }
    bought.forEach(one -> assertProblem(Bounded.get(one), 409, "SOLD_OUT"));
  }

  @Test
  void sellsAndShowsWithoutRedisEvenIfItWasNeverReached(RedisServer server) throws Exception {
    OrderId id = OrderId.of(1_790_000_000_001L, Partition.ofSku(STRONG), OrderId.MYSQL_WORKER, 2);
    database.order(id, STRONG, USER, "CONFIRMED");
    try (TcpProxy link = TcpProxy.to(server)) {
      link.cut();
      try (TestGateway own =
          database.heldGateway(
              "redis://127.0.0.1:" + link.port() + "/0", PATIENT, consumerUrl(consumer))) {
        eventually().until(() -> own.bean(ProductCache.class).lastRead().isPresent());
        CompletableFuture<GatewayAnswer> bought = buy(own, STRONG, "key-0001");
        consumer.answer(200, order("CONFIRMED", "CONFIRMED"));
        assertThat(Bounded.get(bought).status()).isEqualTo(201);

        assertThat(own.get(USER, "/api/v1/orders/" + id).body()).contains("\"CONFIRMED\"");
        assertThat(own.get(USER, "/api/v1/orders").body()).contains(id.toString());
        GatewayAnswer page = own.get(USER, "/api/v1/skus/" + STRONG);
        assertThat(page.body())
            .as(page.toString())
            .contains("\"decides\":\"MYSQL\"", "\"onSale\":true", "\"soldOut\":false");
        assertThat(own.get(USER, "/api/v1/skus").body()).contains("\"skuId\":" + STRONG);
        OrderId unknown =
            OrderId.of(1_790_000_000_002L, Partition.ofSku(STRONG), OrderId.MYSQL_WORKER, 3);
        assertThat(own.get(USER, "/api/v1/orders/" + unknown).status()).isEqualTo(404);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sentinel", "cluster"})
  void sellsWhereNoNodeHasEverNamedTheServersOfRedis(String mode) throws Exception {
    try (TestGateway own =
        database.heldGateway(
            "redis://127.0.0.1:1",
            "seckill.redis.mode=" + mode,
            "seckill.redis.nodes=127.0.0.1:1",
            "seckill.redis.master=seckill",
            PATIENT,
            consumerUrl(consumer))) {
      eventually().until(() -> own.bean(ProductCache.class).lastRead().isPresent());
      CompletableFuture<GatewayAnswer> bought = buy(own, STRONG, "key-0001");
      consumer.answer(200, order("CONFIRMED", "CONFIRMED"));
      assertThat(Bounded.get(bought).status()).isEqualTo(201);
    }
  }

  @Test
  void streamsTheChangesOfAnOrderWithoutRedis(RedisServer server) throws Exception {
    OrderId id = OrderId.of(1_790_000_000_003L, Partition.ofSku(STRONG), OrderId.MYSQL_WORKER, 4);
    database.order(id, STRONG, USER, "CONFIRMED");
    try (TcpProxy link = TcpProxy.to(server)) {
      link.cut();
      try (TestGateway own =
          database.heldGateway("redis://127.0.0.1:" + link.port() + "/0", consumerUrl(consumer))) {
        eventually()
            .until(() -> own.get(USER, "/api/v1/orders/" + id).text("status").equals("CONFIRMED"));
        List<String> lines = new CopyOnWriteArrayList<>();
        HttpRequest request =
            own.shop("/api/v1/orders/" + id + "/events")
                .header("Authorization", TestGateway.shopper(USER))
                .build();
        CompletableFuture<Void> stream =
            own.http()
                .sendAsync(request, BodyHandlers.ofLines())
                .thenAcceptAsync(answer -> answer.body().forEach(lines::add));
        eventually().until(() -> lines.toString().contains("\"CONFIRMED\""));
        assertThat(own.gauge("seckill.order.streams")).isEqualTo(1);
        database.pay(id);

        Bounded.get(stream);
        assertThat(lines.toString()).contains("\"PAID\"");
      }
    }
  }

  @Test
  void isNeverQuarantinedAlthoughRedisLacksIt() {
    assertThat(gateway.bean(VerifiedServers.class).quarantined()).isEmpty();
  }

  @Test
  void doesNotGuessWhatDecidesBeforeTheProductsWereRead(RedisServer server, MySqlServer mysql)
      throws Exception {
    SeededDatabase own = SeededDatabase.create(mysql);
    own.strongSale(STRONG, "OPEN", 0);
    Closeable lock = own.lockProducts();
    try (TestGateway early =
        own.heldGateway(server.newDatabase().url(), PATIENT, consumerUrl(consumer))) {
      assertProblem(early.buy(USER, STRONG, 1, "key-0001"), 503, "ADMISSION_UNAVAILABLE");
      assertThat(early.counter("seckill.unknown", "cause", "products")).isEqualTo(1);

      lock.close();
      eventually().until(() -> early.bean(ProductCache.class).lastRead().isPresent());
      CompletableFuture<GatewayAnswer> bought = buy(early, STRONG, "key-0001");
      consumer.answer(200, order("CONFIRMED", "CONFIRMED"));
      assertThat(Bounded.get(bought).status()).isEqualTo(201);
    } finally {
      lock.close();
    }
  }

  @Test
  void isBusyBeyondItsOwnBoundsWhileSalesInRedisGoOn() throws Exception {
    SlowConsumer silent = SlowConsumer.start();
    try (UnifiedJedis redis = RedisDatabase.open(redisUrl);
        TestGateway own =
            database.gateway(
                redisUrl,
                PATIENT,
                "seckill.admission.answer-within=30s",
                "seckill.redis.socket-timeout=60s",
                "seckill.admission.max-batch=1",
                "seckill.admission.queue-capacity=20",
                consumerUrl(silent))) {
      TestSale sale = TestSale.unlimited(redis, 1_000);
      List<CompletableFuture<GatewayAnswer>> strong = new ArrayList<>();
      strong.add(buy(own, STRONG, "key-2010"));
      silent.awaitRequest(); // it is not among those that wait
      for (int i = 1; i < 40; i++) {
        strong.add(buy(own, STRONG, "key-20" + (10 + i)));
      }
      eventually() // beyond those that wait or are on their way
          .until(() -> strong.stream().filter(StrongSaleIT::isBusy).count() == 40 - 20 - 1);

      for (int i = 0; i < 50; i++) {
        assertThat(own.buy(USER, sale.sku(), 1, "key-30" + (10 + i)).status()).isEqualTo(202);
      }

      assertThat(strong).as("that still wait").filteredOn(one -> !one.isDone()).hasSize(20 + 1);
      eventually()
          .until(
              () -> {
                if (silent.waiting() > 0) {
                  silent.answer(503, "{}");
                }
                return strong.stream().allMatch(CompletableFuture::isDone);
              });
      assertThat(strong.stream().map(one -> Bounded.get(one).status())).containsOnly(503);
    } finally {
      silent.close();
    }
  }

  private static boolean isBusy(CompletableFuture<GatewayAnswer> bought) {
    return bought.isDone() && Bounded.get(bought).body().contains("\"BUSY\"");
  }

  /** Sends a purchase and answers the call that it becomes. */
  private static GatewayAnswer decided(int status, String body) throws Exception {
    CompletableFuture<GatewayAnswer> bought = buy(gateway, STRONG, "key-0001");
    consumer.answer(status, body);
    return Bounded.get(bought);
  }

  private static CompletableFuture<GatewayAnswer> buy(TestGateway gateway, long sku, String key) {
    return gateway.buyAsync(USER, sku, 1, key);
  }

  private static String order(String outcome, String status) {
    return "{\"outcomes\":[{\"outcome\":\"%s\",\"orderId\":\"%s\",\"status\":\"%s\"}]}"
        .formatted(outcome, ID, status);
  }

  private static String outcome(String outcome) {
    return outcomes(outcome, 1);
  }

  private static String outcomes(String outcome, int purchases) {
    String one = "{\"outcome\":\"" + outcome + "\",\"orderId\":null,\"status\":null}";
    return "{\"outcomes\":[" + (one + ",").repeat(purchases - 1) + one + "]}";
  }

  private static MeterRegistry meters() {
    return gateway.bean(MeterRegistry.class);
  }

  private static double count(String name) {
    return meters().get(name).counter().count();
  }

  private static void assertProblem(GatewayAnswer answer, int status, String code) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body()).contains("\"code\":\"" + code + "\"");
    assertThat(answer.header("Retry-After").isEmpty()).isEqualTo(status != 503);
  }
}
