package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.testing.UnstoredProduct;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PreheatsUnderWayTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may overflow
  private final PreheatsUnderWay preheats = new PreheatsUnderWay(nanos::get);

  @Test
  void onePreheatIsUnderWayForFiveMinutes() {
    assertThat(preheats.contain(sale("PREHEATED", 3), loading("PREHEATING", 3))).isTrue();
    nanos.addAndGet(Duration.ofMinutes(5).toNanos() - 1);
    assertThat(preheats.contain(sale("PREHEATED", 3), loading("PREHEATING", 3))).isTrue();

    nanos.incrementAndGet();

    assertThat(preheats.contain(sale("PREHEATED", 3), loading("PREHEATING", 3))).isFalse();
    assertThat(preheats.contain(sale("PREHEATED", 4), loading("PREHEATING", 4)))
        .as("the next")
        .isTrue();
  }

  /** What a rebuild of a running sale has begun, the schedule goes on with. */
  @ParameterizedTest
  @CsvSource({
    "OPEN, PREHEATING, 3",
    "PAUSED, PREHEATING, 3",
    "PREHEATED, PREHEATING, 2",
    "PREHEATED, PREHEATED, 3"
  })
  void anotherSaleIsNotBeingPreheated(String inMySql, String inRedis, long loading) {
    assertThat(preheats.contain(sale(inMySql, 3), loading(inRedis, loading))).isFalse();
  }

  private static RedisSaleState loading(String state, long epoch) {
    return new RedisSaleState(
        Map.of("state", state, "epoch", "0", "loading", Long.toString(epoch)), null);
  }

  private static ProductSnapshot sale(String state, long epoch) {
    return UnstoredProduct.of(7).state(state).epoch(epoch).snapshot();
  }
}
