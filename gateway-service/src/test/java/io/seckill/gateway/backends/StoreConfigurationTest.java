package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.Shards;
import io.seckill.testing.Eventually;
import io.seckill.testing.HungCalls;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreConfigurationTest {

  private static final RedisSettings REDIS = RedisSettings.single("redis://127.0.0.1:1");

  /** A frozen node of a cluster has all shards of a SKU but one. */
  @Test
  void stopsAShardWhileTheCallsOfAllOthersHang() {
    BlockingCalls stops = new StoreConfiguration().stopCalls(REDIS);
    try (HungCalls hung = new HungCalls()) {
      for (int shard = 1; shard < Shards.MOST; shard++) {
        var unused = stops.call(hung::call).subscribe(stopped -> {}, timedOut -> {});
      }

      assertThat(stops.call(() -> true).block(Eventually.SOON)).isTrue();
    } finally {
      stops.destroy();
    }
  }

  @ParameterizedTest
  @CsvSource({"250, 1000", "900, 1000", "2000, 2100"})
  void waitsForAStopAsLongAsTheClientDoes(long socketTimeoutMs, long waitsMs) {
    RedisSettings client = REDIS.withSocketTimeout(Duration.ofMillis(socketTimeoutMs));

    assertThat(StoreConfiguration.stopTimeout(client)).isEqualTo(Duration.ofMillis(waitsMs));
  }
}
