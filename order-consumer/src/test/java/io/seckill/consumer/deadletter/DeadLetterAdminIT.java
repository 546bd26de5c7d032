package io.seckill.consumer.deadletter;

import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.orders.Compensation;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.NoCompensations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.SkuProgress;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.web.Operator;
import io.seckill.testing.Bounded;
import io.seckill.testing.Eventually;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

@ExtendWith(TestServers.class)
class DeadLetterAdminIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(3001);
  private static final String DEAD_LETTERS = "/internal/v1/dead-letters";
  private static final String REASON = "{\"reason\":\"shopper was refunded\"}";

  private static TestConsumer consumer;
  private static InternalApi api;
  private static OrderFlood flood;
  private static StoredOrderFixture orders;
  private static AdmissionFixture admissions;
  private static Connection broker;

  private final long sku = NEXT_SKU.getAndIncrement();

  @BeforeAll
  static void start() throws Exception {
    consumer = TestConsumer.start();
    api = consumer.api();
    flood = new OrderFlood(consumer.vhost());
    orders = new StoredOrderFixture(consumer);
    admissions = new AdmissionFixture(consumer.redis());
    broker = consumer.vhost().connect();
  }

  @AfterAll
  static void stop() throws Exception {
    broker.close();
    flood.close();
    consumer.close();
  }

  @Test
  void aReplayedOrderGoesThroughAllGuardsAgain() {
    open(10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    admissions.admit(order);
    long letter = givenUp(order);
    assertThat(api.get(DEAD_LETTERS + "/" + letter).body().path("reason").stringValue())
        .isEqualTo("FAILED_TOO_OFTEN");

    Answer replayed = post(letter, "/replay", "");
    Answer again = post(letter, "/replay", "");

    assertThat(replayed.status()).as(replayed.text()).isEqualTo(200);
    assertThat(replayed.text("state")).isEqualTo("REPLAYED");
    assertThat(replayed.text("resolvedBy")).isEqualTo("tester");
    assertThat(again.body()).isEqualTo(replayed.body());
    awaitStatus(order, "CONFIRMED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(8);
    assertThat(post(letter, "/discard", REASON).code()).isEqualTo("DEAD_LETTER_RESOLVED");
  }

  /** An hour ahead, as after a clock was set back, or on a consumer whose clock is slow. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aReplayThatFailsAgainOpensItsLetterAgain(int clockAheadHours) {
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    flood.publish(order);
    long letter = awaitLetter(order);
    consumer.update(
        "UPDATE dead_letter SET last_failed_at = last_failed_at + INTERVAL ? HOUR"
            + " WHERE id = ?",
        clockAheadHours,
        letter);

    assertThat(post(letter, "/replay", "").status()).isEqualTo(200);

    eventually()
        .untilAsserted(
            () -> {
              Answer shown = api.get(DEAD_LETTERS + "/" + letter);
              assertThat(shown.text("state")).isEqualTo("OPEN");
              assertThat(shown.body().path("attempts").intValue()).isEqualTo(2);
              assertThat(List.of("resolvedBy", "resolvedReason", "resolvedAt"))
                  .allMatch(member -> shown.body().path(member).isNull());
            });
  }

  @Test
  void aDiscardedOrderIsRejectedAndItsUnitsGoBackOnce() {
    open(10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    admissions.admit(order);
    long letter = givenUp(order);
    long settled = Long.parseLong(orders.product(sku, "settled"));

    Answer discarded = post(letter, "/discard", REASON);
    Answer again = post(letter, "/discard", "{\"reason\":\"other words\"}");

    assertThat(discarded.status()).as(discarded.text()).isEqualTo(200);
    assertThat(discarded.text("state")).isEqualTo("DISCARDED");
    assertThat(discarded.text("resolvedReason")).isEqualTo("shopper was refunded");
    assertThat(again.body()).isEqualTo(discarded.body());
    assertThat(orders.status(order.orderId())).isEqualTo("REJECTED");
    assertThat(column(order, "reason")).isEqualTo("DISCARDED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    awaitRejectedInRedis(order, 10);
    assertThat(Long.parseLong(orders.product(sku, "settled"))).isEqualTo(settled + 1);
    assertThat(post(letter, "/replay", "").code()).isEqualTo("DEAD_LETTER_RESOLVED");
  }

  /** The sweep of pending compensations writes a result again that Redis has not confirmed. */
  @ParameterizedTest(name = "Redis confirms its result: {0}")
  @ValueSource(booleans = {false, true})
  void aDiscardReturnsUnitsOnlyAfterItsResult(boolean isWritten) {
    open(10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    admissions.admit(order);
    List<OrderId> delivered = new ArrayList<>();

    resolver(isWritten, delivered).discard(givenUp(order), "a test", new Operator("tester"));

    assertThat(orders.status(order.orderId())).isEqualTo("REJECTED");
    assertThat(delivered).isEqualTo(isWritten ? List.of(order.orderId()) : List.of());
  }

  private static DeadLetterResolver resolver(boolean isWritten, List<OrderId> delivered) {
    OrderResults results =
        new OrderResults(
            consumer.bean(UnifiedJedis.class),
            consumer.bean(RedisCallGuard.class),
            new SimpleMeterRegistry()) {
          @Override
          public boolean write(Collection<OrderResult> orders, Collection<SkuProgress> progress) {
            return isWritten;
          }
        };
    Compensations compensations =
        new NoCompensations() {
          @Override
          public boolean deliver(Collection<Compensation> pending) {
            return delivered.addAll(pending.stream().map(Compensation::orderId).toList());
          }
        };
    DeadLetterResolver bean = consumer.bean(DeadLetterResolver.class);
    return new DeadLetterResolver(
        bean.deadLetters(),
        bean.table(),
        bean.publisher(),
        bean.store(),
        results,
        compensations,
        bean.transactions());
  }

  @Test
  void anOrderOfAShardIsListedReplayedAndDiscardedAsOneOfASku() {
    String path = "/internal/v1/skus/" + sku;
    String four = "\"shards\":4,\"stock\"";
    api.put(path, Sales.product("LIMITED", 2, 800).replace("\"stock\"", four));
    api.post(path + "/preheat");
    eventually().until(() -> api.post(path + "/open").status() == 200); // a breaker may be open
    long shard = Shards.id(sku, 1);
    consumer.redis().hset(RedisKeys.sku(shard), "bucketCount", "1"); // as the fixture writes
    OrderMessage confirmed = OrderFlood.order(shard, PurchasePolicy.LIMITED, 7, 2);
    OrderMessage rejected = OrderFlood.order(shard, PurchasePolicy.LIMITED, 8, 1);
    admissions.admit(confirmed, rejected);
    long replayed = givenUp(confirmed);
    long discarded = givenUp(rejected);

    assertThat(api.get(DEAD_LETTERS + "?limit=200").text()).contains("\"skuId\":" + sku + ",");
    assertThat(post(replayed, "/replay", "").text("state")).isEqualTo("REPLAYED");
    assertThat(post(discarded, "/discard", REASON).text("state")).isEqualTo("DISCARDED");

    awaitStatus(confirmed, "CONFIRMED");
    assertThat(column(rejected, "status")).isEqualTo("REJECTED");
    awaitRejectedInRedis(rejected, 198);
    assertThat(orders.stockInMySql(shard)).isEqualTo(198);
    assertThat(api.get(path).number("stock")).isEqualTo(798);
    api.post(path + "/state", "{\"state\":\"CLOSED\"}");
  }

  @Test
  void aDiscardedOrderOfAnotherPolicyIsRejectedAndItsUnitsGoBackOnce() {
    open(10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.ONE_PER_USER, 7, 1);
    admissions.admit(order);
    flood.publish(order);
    long letter = awaitLetter(order, "OTHER_POLICY");

    assertIsRejected(order, letter);

    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    assertThat(orders.quotaInMySql(sku, 7)).isZero();
    assertThat(orders.product(sku, "settled")).isEqualTo("1");
  }

  /** As when MySQL was restored from a backup older than the product. */
  @Test
  void aDiscardedOrderOfAnUnknownSkuIsRejectedAndItsUnitsGoBackOnce() {
    new Sales(consumer).openInRedis(sku, "LIMITED", 100, 10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    admissions.admit(order);
    flood.publish(order);
    long letter = awaitLetter(order, "UNKNOWN_SKU");

    assertIsRejected(order, letter);
  }

  @Test
  void aDiscardedMessageOfAStrongSaleChangesNothingButItself() {
    new Sales(consumer).openStrong(sku, "LIMITED", 100, 10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.ONE_PER_USER, 7, 1);
    flood.publish(order);
    long letter = awaitLetter(order);

    Answer discarded = post(letter, "/discard", REASON);

    assertThat(discarded.text("state")).isEqualTo("DISCARDED");
    assertThat(post(letter, "/discard", REASON).body()).isEqualTo(discarded.body());
    assertThat(
            consumer.number(
                "SELECT (SELECT COUNT(*) FROM orders WHERE sku_id = ?)"
                    + " + (SELECT COUNT(*) FROM compensation WHERE sku_id = ?)",
                sku,
                sku))
        .isZero();
    assertThat(orders.product(sku, "settled")).isEqualTo("0");
    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    eventually()
        .untilAsserted(
            () -> {
              JsonNode ledger = api.get("/internal/v1/skus/" + sku + "/ledger").body();
              assertThat(ledger.path("balanced").booleanValue()).as("%s", ledger).isTrue();
            });
  }

  private void assertIsRejected(OrderMessage order, long letter) {
    eventually().untilAsserted(() -> assertThat(admissions.result(order)).isEqualTo("D"));

    Answer discarded = post(letter, "/discard", REASON);
    Answer again = post(letter, "/discard", REASON);

    assertThat(discarded.status()).as(discarded.text()).isEqualTo(200);
    assertThat(again.body()).isEqualTo(discarded.body());
    assertThat(column(order, "status")).isEqualTo("REJECTED");
    assertThat(column(order, "reason")).isEqualTo("DISCARDED");
    awaitRejectedInRedis(order, 10);
    eventually().until(() -> orders.pendingCompensations() == 0);
  }

  /** Redis may be asked again later. */
  private static void awaitRejectedInRedis(OrderMessage order, long stock) {
    eventually()
        .untilAsserted(
            () -> {
              assertThat(admissions.result(order)).isEqualTo("RD");
              assertThat(admissions.stock(order.skuId())).isEqualTo(stock);
              assertThat(admissions.quota(order.skuId(), order.userId())).isZero();
            });
  }

  @Test
  void aDiscardLeavesAnOrderThatWasStoredMeanwhileAlone() {
    open(10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    admissions.admit(order);
    long letter = givenUp(order);
    flood.publish(order);
    awaitStatus(order, "CONFIRMED");

    assertThat(post(letter, "/discard", REASON).text("state")).isEqualTo("DISCARDED");

    assertThat(orders.status(order.orderId())).isEqualTo("CONFIRMED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(8);
    assertThat(admissions.stock(sku)).isEqualTo(8);
  }

  @Test
  void anUnreadableMessageComesBackFromItsReplay() {
    String garbage = "{\"v\":99,\"sku\":" + sku + "}";
    flood.publishRaw(sku, garbage, Map.of());
    long letter = awaitLetter("payload = '" + garbage + "'");

    JsonNode shown = api.get(DEAD_LETTERS + "/" + letter).body();
    assertThat(shown.path("payload").stringValue()).isEqualTo(garbage);
    assertThat(shown.path("payloadBytes").longValue()).isEqualTo(garbage.length());
    assertThat(shown.has("payloadBase64")).isFalse();
    assertThat(shown.path("orderId").isNull()).isTrue();
    assertThat(post(letter, "/replay", "").status()).isEqualTo(200);
    awaitLetter("id = " + letter + " AND state = 'OPEN' AND attempts = 2");
    assertThat(post(letter, "/discard", REASON).text("state")).isEqualTo("DISCARDED");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("oddMessages")
  void aReplaySendsTheVeryBytesThatCame(String name, byte[] body) throws Exception {
    flood.publishRaw(sku, body, Map.of());
    long letter = awaitLetter(body);
    byte[] beginning = Arrays.copyOf(body, Math.min(body.length, 4_096));

    JsonNode shown = api.get(DEAD_LETTERS + "/" + letter).body();

    assertThat(shown.path("payloadBytes").longValue()).isEqualTo(body.length);
    assertThat(shown.path("payload").stringValue()).isEqualTo(new String(beginning, UTF_8));
    assertThat(shownBytes(shown)).isEqualTo(beginning);
    assertThat(replayed(letter)).isEqualTo(body);
    awaitLetter("id = " + letter + " AND state = 'OPEN' AND attempts = 2");
  }

  /**
   * Replays a dead letter of this SKU; returns the body of the message that the replay publishes.
   */
  private byte[] replayed(long letter) throws Exception {
    try (Channel channel = broker.createChannel()) {
      String spy = channel.queueDeclare().getQueue();
      channel.queueBind(spy, BrokerTopology.ORDERS_EXCHANGE, routingKey());

      assertThat(post(letter, "/replay", "").status()).isEqualTo(200);

      return eventually().until(() -> channel.basicGet(spy, true), Objects::nonNull).getBody();
    }
  }

  static Stream<Arguments> oddMessages() {
    byte[] longer = new byte[3_000_000];
    new Random(42).nextBytes(longer);
    return Stream.of(
        arguments("100 KB of text", "0123456789".repeat(10_000).getBytes(UTF_8)),
        arguments("characters across the edge", ("x" + "\u4e2d".repeat(2_000)).getBytes(UTF_8)),
        arguments(
            "not UTF-8", new byte[] {'{', (byte) 0xc3, '(', (byte) 0xff, 0, (byte) 0xed, '}'}),
        arguments("3 MB of anything", longer),
        arguments("nothing", new byte[0]));
  }

  private static byte[] shownBytes(JsonNode letter) {
    return letter.has("payloadBase64")
        ? Base64.getDecoder().decode(letter.path("payloadBase64").stringValue())
        : letter.path("payload").stringValue().getBytes(UTF_8);
  }

  @Test
  void aReplayKeepsMembersOfALaterRelease() throws Exception {
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    byte[] body =
        OrderMessageCodec.encode(order).replace("}", ",\"giftWrap\":[1]}").getBytes(UTF_8);
    open(10);
    publishDead(body, Map.of(BrokerTopology.REASON_HEADER, "FAILED_TOO_OFTEN"));
    long letter = awaitLetter(order);

    assertThat(replayed(letter)).isEqualTo(body);
    awaitStatus(order, "CONFIRMED");
  }

  @Test
  void whatALongMessageBeginsWithIsNoOrder() {
    open(10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2);
    byte[] withTail = (OrderMessageCodec.encode(order) + " ".repeat(5_000)).getBytes(UTF_8);
    flood.publishRaw(sku, withTail, Map.of());
    long letter = awaitLetter(withTail);

    assertThat(post(letter, "/discard", REASON).status()).isEqualTo(200);

    assertThat(column(order, "status")).isEmpty();
  }

  @Test
  void anUnreadableMessageFromNowhereCanOnlyBeDiscarded() {
    byte[] garbage = ("from nowhere " + sku).getBytes(UTF_8);
    publishDead(garbage, Map.of(BrokerTopology.ROUTING_KEY_HEADER, "elsewhere"));
    long letter = awaitLetter(garbage);

    assertThat(post(letter, "/replay", "").code()).isEqualTo("UNREADABLE");
    assertThat(post(letter, "/discard", REASON).status()).isEqualTo(200);
  }

  @Test
  void aMessageThatAnOlderVersionHasCutCanOnlyBeDiscardedUntilItComesAgain() {
    byte[] body = ("cut " + sku + "x".repeat(10_000)).getBytes(UTF_8);
    flood.publishRaw(sku, body, Map.of());
    long letter = awaitLetter(body);
    consumer.update("UPDATE dead_letter SET payload_bytes = NULL WHERE id = " + letter);
    consumer.update("DELETE FROM dead_letter_rest WHERE letter_id = " + letter);

    assertThat(api.get(DEAD_LETTERS + "/" + letter).body().path("payloadBytes").isNull()).isTrue();
    assertThat(post(letter, "/replay", "").code()).isEqualTo("CUT");

    flood.publishRaw(sku, body, Map.of());
    awaitLetter("id = " + letter + " AND payload_bytes = " + body.length);
    assertThat(post(letter, "/replay", "").status()).isEqualTo(200);
  }

  @Tag("proof")
  @Test
  void ofReplayAndDiscardAtTheSameTimeOneWins() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    open(1_000);
    List<OrderMessage> all = new ArrayList<>();
    List<Long> deadLetters = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 1 + i, 1);
      admissions.admit(order);
      all.add(order);
      deadLetters.add(givenUp(order));
    }

    int stored = 0;
    for (int i = 0; i < deadLetters.size(); i++) {
      long letter = deadLetters.get(i);
      List<String> won = Collections.synchronizedList(new ArrayList<>());
      List<Runnable> racers =
          new ArrayList<>(
              List.of(
                  () -> note(won, "CONFIRMED", post(letter, "/replay", "")),
                  () -> note(won, "CONFIRMED", post(letter, "/replay", "")),
                  () -> note(won, "REJECTED", post(letter, "/discard", REASON)),
                  () -> note(won, "REJECTED", post(letter, "/discard", REASON))));
      Collections.shuffle(racers, random);
      Races.race(racers);
      assertThat(won).as("seed %s", seed).hasSize(2);
      assertThat(won.get(0)).as("seed %s", seed).isEqualTo(won.get(1));
      awaitStatus(all.get(i), won.get(0));
      stored += won.get(0).equals("CONFIRMED") ? 1 : 0;
    }

    long left = 1_000L - stored;
    eventually().until(() -> orders.pendingCompensations() == 0);
    assertThat(orders.stockInMySql(sku)).isEqualTo(left);
    assertThat(admissions.stock(sku)).isEqualTo(left);
  }

  /** The request waits for the row that another one has locked. */
  @ParameterizedTest
  @CsvSource({"/replay, DISCARDED", "/discard, REPLAYED"})
  void aLetterThatIsResolvedMeanwhileIsNotResolvedAgain(String action, String meanwhile) {
    long letter = givenUp(OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 2));
    try (RowLock other =
        consumer.lock(
            "UPDATE dead_letter SET state = '%s' WHERE id = %d".formatted(meanwhile, letter))) {
      CompletableFuture<Answer> answer = // asked again when the lock was held for 3 s
          CompletableFuture.supplyAsync(
              () ->
                  eventually()
                      .until(() -> post(letter, action, REASON), one -> one.status() != 503));
      eventually()
          .until(
              () ->
                  answer.isDone()
                      || consumer.executing("%dead_letter%id=" + letter + "%").isPresent());
      other.commit();

      assertThat(Bounded.get(answer).code()).isEqualTo("DEAD_LETTER_RESOLVED");
    }
  }

  /** facts.md 16: the broker also acks a message that it cannot route. */
  @Test
  void aReplayThatTheBrokerCannotRouteKeepsItsLetterOpen() throws Exception {
    open(10);
    OrderMessage first = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 1);
    admissions.admit(first);
    // The first replay opens the connection and declares the exchanges, queues and bindings.
    assertThat(post(givenUp(first), "/replay", "").status()).isEqualTo(200);
    awaitStatus(first, "CONFIRMED");
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 8, 1);
    admissions.admit(order);
    long letter = givenUp(order);
    String key = BrokerTopology.routingKey(order.orderId().partition());
    String queue = BrokerTopology.orderQueue(Integer.parseInt(key));
    try (Channel channel = broker.createChannel()) {
      channel.queueUnbind(queue, BrokerTopology.ORDERS_EXCHANGE, key);

      Answer refused = api.post(DEAD_LETTERS + "/" + letter + "/replay", "");

      assertThat(refused.status()).isEqualTo(503);
      assertThat(api.get(DEAD_LETTERS + "/" + letter).body().path("state").stringValue())
          .isEqualTo("OPEN");
    }
    // Once a message was returned, the next one declares the binding again.
    assertThat(post(letter, "/replay", "").status()).isEqualTo(200);
    awaitStatus(order, "CONFIRMED");
  }

  @Test
  void listsPageByPageAndByState() {
    List<Long> deadLetters = new ArrayList<>();
    open(10);
    for (int i = 0; i < 3; i++) {
      deadLetters.add(givenUp(OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 1)));
    }
    Collections.sort(deadLetters);
    post(deadLetters.get(1), "/discard", REASON);
    long before = deadLetters.get(0) - 1;

    Answer page = api.get(DEAD_LETTERS + "?state=OPEN&limit=1&after=" + before);
    Answer next = api.get(DEAD_LETTERS + "?state=OPEN&limit=1&after=" + page.body().path("next"));
    Answer discarded = api.get(DEAD_LETTERS + "?state=DISCARDED&after=" + before);

    assertThat(page.body().path("deadLetters")).hasSize(1);
    assertThat(page.body().path("deadLetters").get(0).path("id").longValue())
        .isEqualTo(deadLetters.get(0));
    assertThat(page.body().path("deadLetters").get(0).has("payload")).isFalse();
    assertThat(next.body().path("deadLetters").get(0).path("id").longValue())
        .isEqualTo(deadLetters.get(2));
    assertThat(discarded.body().path("deadLetters").get(0).path("id").longValue())
        .isEqualTo(deadLetters.get(1));
    assertThat(discarded.body().path("next").isNull()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?state=open",
        "?state=",
        "?limit=0",
        "?limit=201",
        "?limit=x",
        "?after=-1",
        "?after=0"
      })
  void refusesWhatItCannotList(String query) {
    Answer refused = api.get(DEAD_LETTERS + query);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(query).contains(refused.field() + "=");
  }

  @Test
  void whatIsNotThereIsNotFoundAndADiscardNeedsAReason() {
    assertThat(api.get(DEAD_LETTERS + "/999999").code()).isEqualTo("UNKNOWN_DEAD_LETTER");
    assertThat(post(999_999, "/replay", "").code()).isEqualTo("UNKNOWN_DEAD_LETTER");
    assertThat(post(999_999, "/discard", REASON).code()).isEqualTo("UNKNOWN_DEAD_LETTER");
    assertThat(api.get(DEAD_LETTERS + "/x").field()).isEqualTo("id");
    assertThat(post(1, "/discard", "{}").field()).isEqualTo("reason");
    assertThat(post(1, "/discard", "{\"reason\":\"a\\u0007b\"}").field()).isEqualTo("reason");
    assertThat(api.with("X-Operator", "").post(DEAD_LETTERS + "/1/replay").field())
        .isEqualTo("X-Operator");
  }

  private void open(long stock) {
    new Sales(consumer).open(sku, "LIMITED", 100, stock);
  }

  /** Sends the same request again when a store has not answered in time, as the answer says. */
  private static Answer post(long letter, String action, String body) {
    return eventually()
        .until(
            () -> api.post(DEAD_LETTERS + "/" + letter + action, body),
            answer -> answer.status() != 503);
  }

  private static void note(List<String> won, String status, Answer answer) {
    assertThat(answer.status()).as(answer.text()).isIn(200, 409);
    if (answer.status() == 200) {
      won.add(status);
    }
  }

  /** Publishes the order as a dead letter of the consumer; returns the id of its row. */
  private static long givenUp(OrderMessage order) {
    publishDead(
        OrderMessageCodec.encode(order).getBytes(UTF_8),
        Map.of(
            BrokerTopology.REASON_HEADER, "FAILED_TOO_OFTEN",
            BrokerTopology.DETAIL_HEADER, "for the test",
            DeadLetterHeaders.ATTEMPTS, 5));
    return awaitLetter(order);
  }

  private static void publishDead(byte[] body, Map<String, Object> headers) {
    BasicProperties properties =
        new BasicProperties.Builder().deliveryMode(2).headers(headers).build();
    try (Channel channel = broker.createChannel()) {
      channel.confirmSelect();
      channel.basicPublish(
          BrokerTopology.DEAD_EXCHANGE, BrokerTopology.DEAD_ROUTING_KEY, properties, body);
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private String routingKey() {
    return BrokerTopology.routingKey(Partition.ofSku(sku));
  }

  private static long awaitLetter(byte[] body) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(body);
      return awaitLetter("payload_hash = UNHEX('" + HexFormat.of().formatHex(hash) + "')");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long awaitLetter(OrderMessage order, String reason) {
    return awaitLetter("order_id = " + order.orderId() + " AND reason = '" + reason + "'");
  }

  private static long awaitLetter(OrderMessage order) {
    return awaitLetter("order_id = " + order.orderId());
  }

  private static long awaitLetter(String condition) {
    String letter = "SELECT id FROM dead_letter WHERE " + condition;
    return Long.parseLong(
        eventually().until(() -> consumer.textOr("", letter), id -> !id.isEmpty()));
  }

  private static void awaitStatus(OrderMessage order, String status) {
    eventually().untilAsserted(() -> assertThat(column(order, "status")).isEqualTo(status));
  }

  private static String column(OrderMessage order, String column) {
    return consumer.textOr(
        "", "SELECT " + column + " FROM orders WHERE order_id = ?", order.orderId().value());
  }
}
