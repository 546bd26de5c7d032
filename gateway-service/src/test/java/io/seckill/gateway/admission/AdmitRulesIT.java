package io.seckill.gateway.admission;

import static io.seckill.gateway.admission.Calls.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.testing.TestSale;
import io.seckill.testing.TestServers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules, quota and stock, in this order. */
@ExtendWith(TestServers.class)
class AdmitRulesIT extends EmptyAdmission {

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
}
