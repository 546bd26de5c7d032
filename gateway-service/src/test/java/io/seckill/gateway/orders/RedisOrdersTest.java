package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisOrdersTest {

  @Test
  void waitsForRedisAsLongAsItsClientDoes() {
    assertThat(answerWithinMs(250)).as("as shipped").isEqualTo(300);
    assertThat(answerWithinMs(100)).isEqualTo(300);
    assertThat(answerWithinMs(2_000)).isEqualTo(2_050);
  }

  private static long answerWithinMs(long socketTimeoutMs) {
    Duration timeout = Duration.ofMillis(socketTimeoutMs);
    return RedisOrders.answerWithin(
            new RedisSettings(
                Mode.SINGLE, "redis://127.0.0.1:1", List.of(), null, 1, timeout, null))
        .toMillis();
  }
}
