package io.seckill.gateway.admission;

import static io.seckill.gateway.admission.Calls.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.testing.TestSale;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.TestDirectLanes;
import io.seckill.testing.TestServers;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Data that is missing or broken is refused, and nothing is written. */
@ExtendWith(TestServers.class)
class AdmitBrokenDataIT extends EmptyAdmission {

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
}
