package io.seckill.gateway.admission;

import static io.seckill.gateway.admission.Calls.attempt;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.TestDirectLanes;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class AdmitCallIT {

  private static final String KEY = "key-0001";
  private static final Durability IN_BROKER =
      new Durability(Durability.Store.BROKER, 0, Duration.ofMillis(300));

  @AutoClose private static UnifiedJedis redis;
  private static Calls calls;

  @BeforeAll
  static void connect(RedisServer server) {
    redis = server.newDatabase().open();
    calls = new Calls(redis);
  }

  @BeforeEach
  void emptyStore() {
    redis.flushDB();
  }

  @Test
  void admitsAndWritesEverythingAnOrderNeeds() {
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10).with("epoch", 3).with("seq", 41);
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    long before = redisMillis();

    Admission outcome =
        calls.one(new PurchaseAttempt(sale.sku(), Long.MAX_VALUE, KEY, true, 2, trace));

    long after = redisMillis();
    OrderMessage order = sale.outbox().get(0);
    assertThat(outcome).isEqualTo(new Admitted(order.orderId(), 42));
    assertThat(order)
        .isEqualTo(
            new OrderMessage(
                order.orderId(),
                Long.MAX_VALUE,
                sale.sku(),
                2,
                KEY,
                PurchasePolicy.LIMITED,
                3,
                42,
                order.admittedAt(),
                trace));
    assertThat(order.admittedAt()).isBetween(before, after);
    assertThat(sale.stock()).isEqualTo(8);
    assertThat(sale.quota(Long.MAX_VALUE)).isEqualTo("2");
    String record = sale.record(Long.MAX_VALUE, order.orderId().toString());
    assertThat(AdmissionRecord.parse(record).withRequest(KEY))
        .isEqualTo(AdmissionRecord.queued(order));
    assertThat(redis.hgetAll(RedisKeys.bucket(sale.sku(), 3)))
        .containsOnly(
            Map.entry(Long.MAX_VALUE + ":" + KEY, order.orderId() + ":2"),
            Map.entry(Long.MAX_VALUE + ":", "2"),
            Map.entry(order.orderId().toString(), record));
    assertThat(sale.counter("seq")).isEqualTo(42);
    assertThat(sale.counter("admittedOrders")).isEqualTo(1);
    assertThat(sale.counter("admittedUnits")).isEqualTo(2);
  }

  @Test
  @DisplayName("Keys of a sale expire with it, also a bucket that was removed before (facts.md 11)")
  void givesEveryKeyTheExpiryOfTheSale() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 100);
    String bucket = RedisKeys.bucket(sale.sku(), 0);
    calls.one(attempt(sale, 4, KEY, 1));
    assertThat(redis.pexpireTime(bucket)).isEqualTo(sale.counter("expiresAt"));

    redis.del(bucket);
    calls.together(attempt(sale, 8, KEY, 1), attempt(sale, 12, KEY, 1));
    calls.one(attempt(sale, 16, KEY, 1));

    assertThat(redis.pexpireTime(bucket)).isEqualTo(sale.counter("expiresAt"));
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        1,
        3,
        4,
        999_999_999_999_999L,
        1_000_000_000_000_000L,
        9_007_199_254_740_993L,
        9_223_372_036_854_775_806L,
        Long.MAX_VALUE
      })
  void choosesTheBucketAsJavaDoes(long user) {
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10).with("bucketCount", 1_000_003);

    calls.one(attempt(sale, user, KEY, 1));

    int bucket = RedisKeys.bucketOf(user, 1_000_003);
    assertThat(redis.hget(RedisKeys.bucket(sale.sku(), bucket), user + ":")).isEqualTo("1");
  }

  @Test
  void letsAUserBuyOnceWhereOnePerUserIsTheRule() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 10);

    assertThat(calls.one(attempt(sale, 1, KEY, 1))).isInstanceOf(Admitted.class);
    assertThat(calls.one(attempt(sale, 1, "key-0002", 1))).isEqualTo(Refusal.QUOTA_EXCEEDED);
    assertThat(calls.one(attempt(sale, 2, KEY, 2))).isEqualTo(Refusal.QUOTA_EXCEEDED);
    assertThat(calls.one(attempt(sale, 2, KEY, 1))).isInstanceOf(Admitted.class);
  }

  @Test
  void keepsOnePerUserEvenWhenTheLimitSaysMore() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 9, 10);

    assertThat(calls.one(attempt(sale, 1, KEY, 2))).isEqualTo(Refusal.QUOTA_EXCEEDED);
  }

  @Test
  @DisplayName("The limit also applies to the first purchase (facts.md 29)")
  void countsUnitsOverSeveralOrdersWhereALimitIsTheRule() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 3, 10);

    assertThat(calls.one(attempt(sale, 1, "key-0001", 4))).isEqualTo(Refusal.QUOTA_EXCEEDED);
    assertThat(calls.one(attempt(sale, 1, "key-0002", 2))).isInstanceOf(Admitted.class);
    assertThat(calls.one(attempt(sale, 1, "key-0003", 2))).isEqualTo(Refusal.QUOTA_EXCEEDED);
    assertThat(calls.one(attempt(sale, 1, "key-0004", 1))).isInstanceOf(Admitted.class);
    assertThat(sale.quota(1)).isEqualTo("3");
  }

  @Test
  void notesTheHighestSequenceOfEachSkuThatAdmittedSomething() {
    TestSale sale = TestSale.unlimited(redis, 10).with("seq", 40).with("epoch", 3);
    TestSale neighbour = TestSale.open(redis, sale.sku() + 16, PurchasePolicy.UNLIMITED, 0, 10);
    TestSale empty = TestSale.open(redis, sale.sku() + 32, PurchasePolicy.UNLIMITED, 0, 0);

    calls.together(
        attempt(sale, 1, KEY, 1),
        attempt(neighbour, 1, KEY, 1),
        attempt(empty, 1, KEY, 1),
        attempt(sale, 2, KEY, 1),
        attempt(sale, 1, KEY, 1));

    String server = TestSale.replicationId(redis);
    assertThat(calls.marks().of(sale.sku()))
        .isEqualTo(new HighWaterMarks.Mark(server, 3, 42, 42, HighWaterMarks.Verdict.WHOLE));
    assertThat(calls.marks().of(neighbour.sku()))
        .isEqualTo(new HighWaterMarks.Mark(server, 1, 1, 1, HighWaterMarks.Verdict.WHOLE));
    assertThat(calls.marks().of(empty.sku())).isNull();
  }

  @Test
  void keepsNoQuotaWhereThereIsNoLimit() {
    TestSale sale = TestSale.unlimited(redis, 1_000);

    assertThat(calls.one(attempt(sale, 1, "key-0001", 100))).isInstanceOf(Admitted.class);
    assertThat(calls.one(attempt(sale, 1, "key-0002", 100))).isInstanceOf(Admitted.class);
    assertThat(redis.hkeys(sale.bucket(1))).hasSize(4).doesNotContain("1:");
  }

  @Test
  void sellsTheLastUnitAndThenNone() {
    TestSale sale = TestSale.unlimited(redis, 3);
    Calls calls = new Calls(redis); // its shield has refused nothing yet

    assertThat(calls.one(attempt(sale, 1, KEY, 2))).isInstanceOf(Admitted.class);
    assertThat(calls.one(attempt(sale, 2, KEY, 2))).isEqualTo(Refusal.TOO_FEW_LEFT);
    assertThat(calls.shield().covers(sale.sku())).as("one unit is still there").isFalse();
    assertThat(calls.one(attempt(sale, 3, KEY, 1))).isInstanceOf(Admitted.class);
    assertThat(calls.one(attempt(sale, 4, KEY, 1))).isEqualTo(Refusal.SOLD_OUT);
    assertThat(calls.shield().covers(sale.sku())).isTrue();
    assertThat(sale.stock()).isZero();
  }

  @Test
  void decidesLaterPurchasesOfACallOnWhatEarlierOnesTook() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 5);

    List<Admission> outcomes =
        calls.together(
            attempt(sale, 1, "key-0001", 2),
            attempt(sale, 1, "key-0002", 1),
            attempt(sale, 2, "key-0001", 2),
            attempt(sale, 1, "key-0001", 2),
            attempt(sale, 1, "key-0001", 1),
            attempt(sale, 3, "key-0001", 2),
            attempt(sale, 3, "key-0001", 1),
            attempt(sale, 4, "key-0001", 1));

    OrderId first = ((Admitted) outcomes.get(0)).orderId();
    assertThat(outcomes.get(1)).isEqualTo(Refusal.QUOTA_EXCEEDED);
    assertThat(outcomes.get(2))
        .isInstanceOfSatisfying(Admitted.class, a -> assertThat(a.position()).isEqualTo(2));
    assertThat(outcomes.get(3)).isEqualTo(new Repeated(first, OrderStatus.QUEUED, 1));
    assertThat(outcomes.get(4)).isEqualTo(Refusal.IDEMPOTENCY_KEY_REUSED);
    assertThat(outcomes.get(5)).isEqualTo(Refusal.TOO_FEW_LEFT);
    assertThat(outcomes.get(6)).as("a refused key may be tried again").isInstanceOf(Admitted.class);
    assertThat(outcomes.get(7)).isEqualTo(Refusal.SOLD_OUT);
    assertThat(sale.outbox()).extracting(OrderMessage::seq).containsExactly(1L, 2L, 3L);
    assertThat(sale.stock()).isZero();
    assertThat(sale.counter("admittedUnits")).isEqualTo(5);
  }

  @Test
  void putsTheOldestOrderOfACallAtTheTailOfTheOutbox() {
    TestSale sale = TestSale.unlimited(redis, 64);
    PurchaseAttempt[] attempts =
        IntStream.rangeClosed(1, 64)
            .mapToObj(u -> attempt(sale, u, KEY, 1))
            .toArray(PurchaseAttempt[]::new);

    assertThat(calls.together(attempts)).hasOnlyElementsOfType(Admitted.class);

    assertThat(redis.rpop(RedisKeys.outbox(sale.partition()))).contains("\"seq\":1,");
    assertThat(redis.lpop(RedisKeys.outbox(sale.partition()))).contains("\"seq\":64,");
  }

  @Test
  void keepsSkusOfOneCallApart() {
    TestSale one = TestSale.open(redis, 1_001, PurchasePolicy.ONE_PER_USER, 1, 1);
    TestSale other = TestSale.open(redis, 1_017, PurchasePolicy.ONE_PER_USER, 1, 1);

    List<Admission> outcomes =
        calls.together(
            attempt(one, 1, KEY, 1),
            attempt(other, 1, KEY, 1),
            attempt(one, 2, KEY, 1),
            new PurchaseAttempt(1_033, 1, KEY, true, 1, null));

    assertThat(outcomes.get(0)).isInstanceOf(Admitted.class);
    assertThat(outcomes.get(1))
        .isInstanceOfSatisfying(Admitted.class, a -> assertThat(a.position()).isEqualTo(1));
    assertThat(outcomes.get(2)).isEqualTo(Refusal.SOLD_OUT);
    assertThat(outcomes.get(3)).isEqualTo(Refusal.UNKNOWN_SKU);
  }

  @Test
  void keepsPartitionsOfOneCallApart() {
    TestSale one = TestSale.open(redis, 1_001, PurchasePolicy.LIMITED, 2, 10);
    TestSale broken = TestSale.open(redis, 1_002, PurchasePolicy.LIMITED, 2, 10);
    TestSale unverified = TestSale.open(redis, 1_003, PurchasePolicy.LIMITED, 2, 10);
    TestSale elsewhere = TestSale.open(redis, 1_004, PurchasePolicy.LIMITED, 2, 10);
    TestSale other = TestSale.open(redis, 1_005, PurchasePolicy.LIMITED, 2, 10);
    redis.sadd(RedisKeys.outbox(broken.partition()), "foreign");
    Calls mixed = new Calls(redis);
    mixed.servers().verified(elsewhere.partition(), "0".repeat(40));
    int gone = unverified.partition();
    mixed.servers().otherServer(gone, mixed.servers().replicationId(gone));

    List<Admission> outcomes =
        mixed.together(
            attempt(one, 1, KEY, 1),
            attempt(broken, 1, KEY, 1),
            attempt(unverified, 1, KEY, 1),
            attempt(elsewhere, 1, KEY, 1),
            attempt(other, 1, KEY, 2),
            attempt(one, 2, KEY, 1));

    assertThat(outcomes.get(0)).isInstanceOf(Admitted.class);
    assertThat(outcomes.subList(1, 4))
        .containsExactly(Unknown.BROKEN_DATA, Unknown.UNVERIFIED, Unknown.UNVERIFIED);
    assertThat(outcomes.subList(4, 6)).hasOnlyElementsOfType(Admitted.class);
    assertThat(one.outbox()).extracting(OrderMessage::userId).containsExactly(1L, 2L);
    assertThat(other.outbox()).extracting(OrderMessage::skuId).containsExactly(other.sku());
    assertThat(List.of(one, broken, unverified, elsewhere, other))
        .extracting(TestSale::stock)
        .containsExactly(8L, 10L, 10L, 10L, 8L);
  }

  @Test
  @DisplayName("A repeat gets the first answer and takes nothing (facts.md 3, I9)")
  void answersARepeatWithTheFirstOrderAndItsStatusOfNow() {
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 1).with("seq", 10).with("settled", 4);
    Admitted first = (Admitted) calls.one(attempt(sale, 9, KEY, 1));
    OrderId order = first.orderId();
    PurchaseAttempt again = attempt(sale, 9, KEY, 1);

    assertThat(first.position()).isEqualTo(7);
    assertThat(calls.one(again)).isEqualTo(new Repeated(order, OrderStatus.QUEUED, 7));
    sale.with("settled", 9);
    assertThat(calls.one(again)).isEqualTo(new Repeated(order, OrderStatus.QUEUED, 2));
    sale.with("settled", 40);
    assertThat(calls.one(again)).isEqualTo(new Repeated(order, OrderStatus.QUEUED, 1));
    sale.writeRecord(9, order.toString(), "9|1|11|5|1|RS|6");
    assertThat(calls.one(again)).isEqualTo(new Repeated(order, OrderStatus.REJECTED, 0));
    sale.with("state", "CLOSED");
    assertThat(calls.one(again))
        .as("the idempotency key is checked before the sale rules")
        .isInstanceOf(Repeated.class);
    assertThat(sale.outbox()).hasSize(1);
    assertThat(sale.stock()).isZero();
  }

  @Test
  @DisplayName("A key belongs to one user; the same key with another quantity is refused (I9)")
  void bindsAKeyToItsUserAndQuantity() {
    TestSale sale = TestSale.unlimited(redis, 10);
    calls.one(attempt(sale, 1, KEY, 2));

    assertThat(calls.one(attempt(sale, 5, KEY, 2))).isInstanceOf(Admitted.class);
    assertThat(calls.one(attempt(sale, 1, KEY, 3))).isEqualTo(Refusal.IDEMPOTENCY_KEY_REUSED);
    assertThat(sale.stock()).isEqualTo(6);
  }

  @Test
  void decidesOnRulesThenOnAStockOf0ThenOnQuotaThenOnStock() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 2);
    calls.one(attempt(sale, 1, KEY, 1));

    assertThat(calls.one(attempt(sale, 1, "key-0002", 2)))
        .as("one unit is left")
        .isEqualTo(Refusal.QUOTA_EXCEEDED);
    sale.stock(0);
    assertThat(calls.one(attempt(sale, 1, "key-0002", 1))).isEqualTo(Refusal.SOLD_OUT);
    redis.hset(sale.bucket(5), "5:", "two");
    assertThat(calls.one(attempt(sale, 5, KEY, 1)))
        .as("the quota is not read")
        .isEqualTo(Refusal.SOLD_OUT);
    sale.with("state", "PAUSED");
    assertThat(calls.one(attempt(sale, 1, "key-0002", 1))).isEqualTo(Refusal.PAUSED);
    assertThat(calls.one(attempt(sale, 1, KEY, 2))).isEqualTo(Refusal.IDEMPOTENCY_KEY_REUSED);
  }

  /** The other count is of before a jump of the clock. */
  @ParameterizedTest
  @ValueSource(longs = {-1_500, 60_000})
  void callsNoShardSoldOutWhoseSkuWasNotCountedLately(long afterNow) {
    TestSale shard =
        TestSale.open(redis, Shards.id(1_001, 1), PurchasePolicy.ONE_PER_USER, 1, 1)
            .with("elsewhere", "0:" + (redisMillis() + afterNow));
    calls.one(attempt(shard, 1, KEY, 1));

    assertThat(calls.one(attempt(shard, 1, "key-0002", 1))).isEqualTo(Refusal.QUOTA_EXCEEDED);
  }

  @ParameterizedTest
  @CsvSource({"PREHEATED,NOT_OPEN", "PAUSED,PAUSED", "CLOSED,CLOSED"})
  void refusesWhileTheSaleIsNotOpen(String state, Refusal reason) {
    TestSale sale = TestSale.unlimited(redis, 10).with("state", state);

    assertThat(calls.one(attempt(sale, 1, KEY, 1))).isEqualTo(reason);
  }

  @Test
  void opensAndClosesByTheClockOfRedis() {
    long now = redisMillis();
    TestSale sale = TestSale.unlimited(redis, 10).with("opensAt", now + 60_000);
    assertThat(calls.one(attempt(sale, 1, KEY, 1))).isEqualTo(Refusal.NOT_OPEN);

    sale.with("opensAt", now - 2).with("closesAt", now - 1);
    assertThat(calls.one(attempt(sale, 1, KEY, 1))).isEqualTo(Refusal.CLOSED);

    sale.with("closesAt", now + 60_000);
    assertThat(calls.one(attempt(sale, 1, KEY, 1))).isInstanceOf(Admitted.class);
  }

  @ParameterizedTest
  @CsvSource({"opensAt, NOT_OPEN, ", "closesAt, , CLOSED"})
  void opensAndClosesToTheMillisecond(
      String time, @Nullable Refusal before, @Nullable Refusal afterwards) {
    TestSale sale = TestSale.unlimited(redis, 1_000);
    Admission early;
    long at;
    do { // until a call was decided before a time that lies within the same second
      at = redisMillis() / 1_000 * 1_000 + 999;
      sale.with(time, at);
      early = calls.one(attempt(sale, 1, "key-of-" + at, 1));
    } while (redisMillis() >= at);

    sale.with(time, redisMillis());
    Admission late = calls.one(attempt(sale, 2, KEY, 1));

    assertDecided(early, before);
    assertDecided(late, afterwards);
  }

  private static void assertDecided(Admission admission, @Nullable Refusal refusal) {
    if (refusal == null) {
      assertThat(admission).isInstanceOf(Admitted.class);
    } else {
      assertThat(admission).isEqualTo(refusal);
    }
  }

  @Test
  void refusesMoreUnitsThanTheSkuAllowsInOneOrder() {
    TestSale sale = TestSale.unlimited(redis, 1_000).with("maxPerOrder", 3);

    assertThat(calls.one(attempt(sale, 1, KEY, 4))).isEqualTo(Refusal.QUANTITY);
    assertThat(calls.one(attempt(sale, 1, KEY, 3))).isInstanceOf(Admitted.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "policy",
        "maxPerOrder",
        "opensAt",
        "closesAt",
        "state",
        "epoch",
        "bucketCount",
        "expiresAt",
        "limit"
      })
  @DisplayName("Missing preheat data cause a refusal, they never mean 'unlimited' (facts.md 1)")
  void refusesWhenAFieldOfTheRulesIsMissing(String field) {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 10).without(field);

    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
  }

  /** It had other keys: nobody would have bought yet, and no key would be a repeat. */
  @Test
  void admitsNothingOnASaleThatAFormerReleaseLoaded() {
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.LIMITED, 2, 10)
            .without("bucketCount")
            .with("buckets", TestSale.BUCKETS);

    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
  }

  @Test
  void aSaleThatIsBeingLoadedIsNotClosedByItsOldTimes() {
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.LIMITED, 2, 10)
            .with("state", "PREHEATING")
            .with("closesAt", 1_000);

    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
  }

  @ParameterizedTest
  @CsvSource({
    "policy,FREE",
    "limit,x",
    "limit,-1",
    "maxPerOrder,1e3",
    "bucketCount,0",
    "bucketCount,-4",
    "seq,nan",
    "epoch,1.5",
    "state,OPENED",
    "closesAt,tomorrow",
    "expiresAt,''",
    "admittedOrders,nan",
    "admittedUnits,-1"
  })
  void refusesWhenAFieldOfTheRulesIsUnreadable(String field, String value) {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 10).with(field, value);

    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"sku:1001", "stock:1001", "bucket:1001:1", "outbox"})
  @DisplayName("A key of the wrong type causes a refusal before any write (facts.md 1, fault 9)")
  void refusesAWrongTypeBeforeAnyWriteAndServesTheNeighbours(String name) {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 10);
    TestSale neighbour = TestSale.open(redis, 1_017, PurchasePolicy.LIMITED, 2, 10);
    String key = RedisKeys.prefix(sale.partition()) + name;
    redis.del(key);
    redis.sadd(key, "foreign");
    Map<String, byte[]> before = dump();

    assertThat(calls.one(attempt(sale, 1, KEY, 1))).isEqualTo(Unknown.BROKEN_DATA);
    assertSame(before, dump());

    if (!name.equals("outbox")) {
      List<Admission> outcomes =
          calls.together(
              attempt(neighbour, 2, KEY, 1),
              attempt(sale, 1, KEY, 1),
              attempt(neighbour, 3, KEY, 1));
      assertThat(outcomes.get(0)).isInstanceOf(Admitted.class);
      assertThat(outcomes.get(1)).isEqualTo(Unknown.BROKEN_DATA);
      assertThat(outcomes.get(2)).isInstanceOf(Admitted.class);
      assertThat(neighbour.outbox()).hasSize(2);
    }
  }

  @Test
  void refusesAPrivateQueueOfTheWrongTypeBeforeAnyWrite() {
    TestSale sale = TestSale.unlimited(redis, 10);
    List<LaneMailbox> lanes =
        Stream.generate(() -> TestDirectLanes.openMailbox(() -> {}))
            .limit(Partition.COUNT)
            .toList();
    String token = lanes.get(sale.partition()).reserve(0).token();
    redis.zadd(RedisKeys.lanes(sale.partition()), 1, token); // its lease is not over
    redis.set(RedisKeys.privateQueue(sale.partition(), token), "foreign");
    Map<String, byte[]> before = dump();

    assertThat(new Calls(redis, IN_BROKER, lanes).one(attempt(sale, 1, KEY, 1)))
        .isEqualTo(Unknown.BROKEN_DATA);

    assertSame(before, dump());
  }

  @ParameterizedTest
  @ValueSource(strings = {"torn", "1|1|x|1|1|Q|", "1|1|1|1|1||", "1|1|1|1|1|?|"})
  void answersTheNeighboursOfARepeatWhoseOrderIsUnreadable(String garbled) {
    TestSale sale = TestSale.unlimited(redis, 2);
    OrderId broken = ((Admitted) calls.one(attempt(sale, 1, KEY, 1))).orderId();
    sale.writeRecord(1, broken.toString(), garbled);

    List<Admission> outcomes =
        calls.together(
            attempt(sale, 2, KEY, 1), attempt(sale, 1, KEY, 1), attempt(sale, 3, KEY, 1));
    assertThat(outcomes.get(0)).isInstanceOf(Admitted.class);
    assertThat(outcomes.get(1)).isEqualTo(Unknown.BROKEN_DATA);
    assertThat(outcomes.get(2)).isEqualTo(Refusal.SOLD_OUT);

    List<Admission> soldOut =
        calls.together(
            attempt(sale, 1, KEY, 1), attempt(sale, 2, KEY, 1), attempt(sale, 3, KEY, 1));
    assertThat(soldOut.get(0)).isEqualTo(Unknown.BROKEN_DATA);
    assertThat(soldOut.get(1)).isInstanceOf(Repeated.class);
    assertThat(soldOut.get(2)).isEqualTo(Refusal.SOLD_OUT);
  }

  @Test
  void answersTheNeighboursOfARepeatWhoseSettledCounterIsUnreadable() {
    TestSale sale = TestSale.unlimited(redis, 1);
    TestSale neighbour = TestSale.open(redis, 1_017, PurchasePolicy.UNLIMITED, 0, 0);
    calls.one(attempt(sale, 1, KEY, 1));
    sale.with("settled", "many");

    assertThat(calls.together(attempt(sale, 1, KEY, 1), attempt(neighbour, 1, KEY, 1)))
        .containsExactly(Unknown.BROKEN_DATA, Refusal.SOLD_OUT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-5", "1.5", "many", "99999999999999999999"})
  void refusesAStockThatIsNoNumber(String stock) {
    TestSale sale = TestSale.unlimited(redis, 1);
    redis.set(RedisKeys.stock(sale.sku()), stock);

    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
    redis.del(RedisKeys.stock(sale.sku()));
    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
  }

  @Test
  void refusesAQuotaThatIsNoNumber() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 10);
    redis.hset(sale.bucket(1), "1:", "two");

    assertRefusedUnwritten(Unknown.BROKEN_DATA, attempt(sale, 1, KEY, 1));
  }

  @Test
  @DisplayName("Only an admission writes (facts.md 2)")
  void writesNothingForARefusal() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 3);
    calls.one(attempt(sale, 1, KEY, 2));
    TestSale paused =
        TestSale.open(redis, 1_017, PurchasePolicy.LIMITED, 2, 3).with("state", "PAUSED");

    assertRefusedUnwritten(Refusal.QUOTA_EXCEEDED, attempt(sale, 1, "key-0002", 1));
    assertRefusedUnwritten(Refusal.TOO_FEW_LEFT, attempt(sale, 2, KEY, 2));
    assertRefusedUnwritten(Refusal.IDEMPOTENCY_KEY_REUSED, attempt(sale, 1, KEY, 1));
    assertRefusedUnwritten(Refusal.PAUSED, attempt(paused, 1, KEY, 1));
    assertRefusedUnwritten(Refusal.UNKNOWN_SKU, new PurchaseAttempt(1_033, 1, KEY, true, 1, null));
  }

  @Test
  @DisplayName(
      "At most 200 bytes of Redis memory per admitted order beyond its message (facts.md 13)")
  void keepsAnOrderInLittleMemory() {
    int orders = 6_400;
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.LIMITED, 2, orders).with("bucketCount", orders / 28);
    redis.configSet("hash-max-listpack-value", "128");
    long before = usedMemory();

    for (int batch = 0; batch < orders / 64; batch++) {
      int first = 1_000_000_000 + batch * 64;
      calls.together(
          IntStream.range(first, first + 64)
              .mapToObj(
                  user ->
                      attempt(
                          sale,
                          user,
                          "a-key-of-32-characters-" + (user % 1_000_000_000 + 100_000_000),
                          1))
              .toArray(PurchaseAttempt[]::new));
    }

    long outbox = redis.memoryUsage(RedisKeys.outbox(sale.partition()), 0);
    long perOrder = (usedMemory() - before - outbox) / orders;
    assertThat(redis.llen(RedisKeys.outbox(sale.partition()))).isEqualTo(orders);
    assertThat(perOrder).as("bytes per order").isLessThanOrEqualTo(200);
  }

  @Test
  @DisplayName("Scripts may vanish at any time (facts.md 8, fault 3)")
  void loadsItsScriptAgainWhenRedisHasForgottenIt() {
    TestSale sale = TestSale.unlimited(redis, 10);
    calls.one(attempt(sale, 1, KEY, 1));
    redis.scriptFlush(RedisKeys.outbox(sale.partition()));

    assertThat(calls.one(attempt(sale, 2, KEY, 1))).isInstanceOf(Admitted.class);
    redis.scriptFlush(RedisKeys.outbox(sale.partition()));
    assertThat(calls.one(attempt(sale, 2, KEY, 1))).isInstanceOf(Repeated.class);

    redis.scriptFlush(RedisKeys.outbox(sale.partition()));
    assertThat(new Calls(redis, 1).one(attempt(sale, 3, KEY, 1)))
        .as("with a WAIT that follows")
        .isEqualTo(Unknown.REPLICAS);
    assertThat(sale.outbox()).hasSize(3);
  }

  /** This server has none. */
  @Test
  void promisesNothingThatTooFewReplicasHave() {
    TestSale sale = TestSale.unlimited(redis, 1);
    Calls waiting = new Calls(redis, 1);
    String pulse = RedisKeys.prefix(sale.partition()) + "pulse";

    assertThat(waiting.one(attempt(sale, 1, KEY, 1))).isEqualTo(Unknown.REPLICAS);
    assertThat(redis.exists(pulse)).isFalse();
    assertThat(waiting.one(attempt(sale, 1, KEY, 1))).as("a repeat").isEqualTo(Unknown.REPLICAS);
    assertThat(redis.del(pulse)).as("a write that WAIT can wait for").isEqualTo(1);
    assertThat(waiting.one(attempt(sale, 2, KEY, 1))).isEqualTo(Refusal.SOLD_OUT);
    assertThat(redis.exists(pulse)).as("after a refusal").isFalse();
    assertThat(sale.outbox()).hasSize(1);
  }

  /** The sales are in two partitions, and the lane of the first fails while it is handed over. */
  @Test
  void endsEveryReservationWhenAnErrorStopsTheAnswers() {
    TestSale first = TestSale.open(redis, 1_001, PurchasePolicy.UNLIMITED, 0, 10);
    TestSale second = TestSale.open(redis, 1_002, PurchasePolicy.UNLIMITED, 0, 10);
    List<LaneMailbox> lanes =
        IntStream.range(0, Partition.COUNT)
            .mapToObj(
                partition ->
                    TestDirectLanes.openMailbox(
                        () -> {
                          if (partition == first.partition()) {
                            throw new StackOverflowError();
                          }
                        }))
            .toList();
    Calls broken = new Calls(redis, IN_BROKER, lanes);

    assertThatThrownBy(() -> broken.together(attempt(first, 1, KEY, 1), attempt(second, 1, KEY, 1)))
        .isInstanceOf(StackOverflowError.class);

    assertThat(lanes).allMatch(lane -> TestDirectLanes.outstanding(lane) == 0);
  }

  @Test
  void decidesNothingOnTheDataOfAServerThatIsNotVerified() {
    TestSale sale = TestSale.unlimited(redis, 10);
    Calls other = new Calls(redis);
    other.servers().verified(sale.partition(), "0".repeat(40));
    Map<String, byte[]> before = dump();

    assertThat(other.one(attempt(sale, 1, KEY, 1))).isEqualTo(Unknown.UNVERIFIED);
    assertSame(before, dump());
    assertThat(other.otherServers()).as("the sale watch is woken").isEqualTo(1);
    assertThat(other.servers().replicationId(sale.partition())).as("no longer verified").isNull();
  }

  private void assertRefusedUnwritten(Admission expected, PurchaseAttempt attempt) {
    Map<String, byte[]> before = dump();
    assertThat(calls.one(attempt)).isEqualTo(expected);
    assertSame(before, dump());
  }

  private static Map<String, byte[]> dump() {
    Map<String, byte[]> all = new HashMap<>();
    new TreeSet<>(redis.keys("*")).forEach(key -> all.put(key, redis.dump(key)));
    return all;
  }

  private static void assertSame(Map<String, byte[]> before, Map<String, byte[]> after) {
    assertThat(after.keySet()).isEqualTo(before.keySet());
    before.forEach(
        (key, value) -> assertThat(Arrays.equals(value, after.get(key))).as(key).isTrue());
  }

  private static long redisMillis() {
    List<?> time = (List<?>) redis.eval("return redis.call('TIME')");
    return Long.parseLong((String) time.get(0)) * 1_000
        + Long.parseLong((String) time.get(1)) / 1_000;
  }

  private static long usedMemory() {
    return redis
        .info("memory")
        .lines()
        .filter(line -> line.startsWith("used_memory:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
        .max()
        .orElseThrow();
  }
}
