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
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.TestDirectLanes;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One call admits, and writes what an order needs. */
@ExtendWith(TestServers.class)
class AdmitCallIT extends EmptyAdmission {

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
