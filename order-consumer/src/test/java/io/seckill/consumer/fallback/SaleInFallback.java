package io.seckill.consumer.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A sale, on one consumer for all classes of these tests; afterwards Redis decides it again. */
@ExtendWith(TestServers.class)
abstract class SaleInFallback {

  static final AtomicLong NEXT_SKU = new AtomicLong(31_000);
  static final int GATEWAY = 1;

  static final TestConsumer consumer =
      TestConsumer.shared(
          Map.of(
              "seckill.fallback", "automatic",
              "spring.datasource.hikari.connection-init-sql", TestConsumer.LONG_LOCK_WAITS,
              "seckill.reconciliation.barrier-timeout", "20s",
              "pause.stockChangeSweeper", "1h", // the tests call it themselves
              "pause.fallbackControlSweeper", "50ms",
              "pause.fallbackReturnSweeper", "50ms",
              "pause.fallbackObservationSweeper", "100ms"));

  static final FallbackFixture fallback = new FallbackFixture(consumer);
  static final StoredInvariants ledger = new StoredInvariants(consumer.sql());
  static final OrderFlood broker = new OrderFlood(consumer.vhost());

  final AdmittedSale sale =
      new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
  final long sku = sale.sku;
  final String path = "/internal/v1/skus/" + sku;

  @BeforeEach
  void nothingIsReservedForOthers() {
    execute("DELETE FROM gateway_node");
  }

  @AfterEach
  void comeBack() {
    consumer.redis().del(RedisKeys.stockChanges(sku));
    execute("DELETE FROM gateway_node");
    if (!fallback.state().equals("REDIS")) {
      fallback.comeBack();
    }
    ledger.check();
    execute( // over, or a sweep would write that to Redis each second
        "UPDATE products SET state = 'CLOSED', closes_at = NOW(3) WHERE sku_id = " + sku);
    sale.forget(); // or its orders that went nowhere would be expected in the queue
  }

  /** Until it is in one of these states, also where a state soon ends by itself. */
  static void whileBeating(String redis, long forMs, String... states) {
    eventually()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(
            () -> {
              fallback.beat(1, 0, redis, forMs);
              fallback.beat(2, 0, redis, forMs);
              assertThat(fallback.state()).isIn((Object[]) states);
            });
  }

  String buyFive(long user) {
    return fallback.buy(sku, user, "key-of-five-" + user, 5).path("outcome").asString();
  }

  Answer stock(String changeId, long delta) {
    return consumer
        .api()
        .with("Idempotency-Key", changeId)
        .post(path + "/stock", "{\"delta\":%d,\"reason\":\"a test\"}".formatted(delta));
  }

  static void call(String id, long user, String action) {
    Answer answer =
        consumer
            .api()
            .post("/internal/v1/orders/" + id + "/" + action, "{\"userId\":" + user + "}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  static void execute(String sql) {
    consumer.update(sql);
  }
}
