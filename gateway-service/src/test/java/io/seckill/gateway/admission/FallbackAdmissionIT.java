package io.seckill.gateway.admission;

import static io.seckill.gateway.admission.Calls.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.gateway.testing.TestSale;
import io.seckill.support.contract.ProductRow;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

/** What a gateway promises, and remembers, where MySQL may decide instead of Redis. */
@ExtendWith(TestServers.class)
class FallbackAdmissionIT {

  private static final String KEY = "key-0001";

  private final UnifiedJedis redis;
  private final TestPromises promises = TestPromises.withFallback();
  private final Calls calls;

  FallbackAdmissionIT(RedisServer server) {
    redis = server.newDatabase().open();
    calls = new Calls(redis, promises.promises());
  }

  @BeforeEach
  void emptyStore() {
    redis.flushDB();
  }

  @AfterEach
  void disconnect() {
    redis.close();
  }

  @Test
  void refusesDataOfAnOlderEpochThanMySqls() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10).with("epoch", 3);
    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isInstanceOf(Admitted.class);
    calls.product(row(sale, 3));
    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isInstanceOf(Repeated.class);

    calls.product(row(sale, 4));

    assertThat(calls.one(attempt(sale, 7, KEY, 1))).as("a repeat").isEqualTo(Unknown.OLD_EPOCH);
    assertThat(calls.one(attempt(sale, 8, KEY, 1))).isEqualTo(Unknown.OLD_EPOCH);
    assertThat(sale.stock()).isEqualTo(9);
    assertThat(sale.outbox()).hasSize(1);
  }

  @Test
  void aLaterEpochInRedisIsFine() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10).with("epoch", 3);
    calls.product(row(sale, 2)); // read before the sale was loaded

    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isInstanceOf(Admitted.class);
  }

  @Test
  void comparesEpochsAsNumbers() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10).with("epoch", 9);
    calls.product(row(sale, 10));
    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isEqualTo(Unknown.OLD_EPOCH);

    sale.with("epoch", 10);
    calls.product(row(sale, 9));

    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isInstanceOf(Admitted.class);
  }

  @Test
  void remembersWhatWasAdmittedAsTheMessageSaysIt() {
    TestSale sale =
        TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10)
            .with("epoch", 3)
            .with("seq", 41)
            .with("admittedUnits", 100);
    TestSale other = TestSale.open(redis, 1_017, PurchasePolicy.ONE_PER_USER, 1, 1);
    calls.together(
        attempt(sale, 7, KEY, 2),
        attempt(other, 7, KEY, 1),
        attempt(sale, 8, KEY, 6),
        attempt(other, 8, KEY, 1),
        attempt(sale, 9, KEY, 3));

    List<OrderMessage> pushed = sale.outbox();
    assertThat(pushed).hasSize(3);
    assertThat(promises.remembered()).containsExactlyInAnyOrderElementsOf(pushed);
    assertThat(promises.admittedUnits()).isIn(105L, 1L);
  }

  @Test
  void remembersTheOrderOfARepeatThatIsStillQueued() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10);
    new Calls(redis).one(attempt(sale, 7, KEY, 2)); // another gateway, which may be gone
    calls.product(row(sale, 1));

    assertThat(calls.one(attempt(sale, 7, KEY, 2))).isInstanceOf(Repeated.class);

    assertThat(promises.remembered()).isEqualTo(sale.outbox());
  }

  @Test
  void asksNothingOfRedisOnceMySqlDecides() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10);
    promises.begin();

    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isEqualTo(Unknown.FALLBACK);

    assertThat(sale.outbox()).isEmpty();
  }

  /** The switch comes between the call and its answer: the order is remembered, not promised. */
  @Test
  void promisesNothingThatWasAdmittedBeforeTheSwitchAndIsAnsweredAfterIt() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10);
    calls.beforeReply(promises::begin);

    assertThat(calls.one(attempt(sale, 7, KEY, 1))).isEqualTo(Unknown.FALLBACK);

    assertThat(promises.remembered()).isEqualTo(sale.outbox()).hasSize(1);
  }

  private static ProductRow row(TestSale sale, long epoch) {
    return TestProductRow.of(sale.sku()).epoch(epoch).row();
  }
}
