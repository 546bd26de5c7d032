package io.seckill.consumer.loading;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.seckill.common.redis.AllowUnsafeRedis;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PreheatPropertiesTest {

  private static final Duration TWO_DAYS = Duration.ofDays(2);

  @ParameterizedTest
  @ValueSource(ints = {0, 10_001})
  void refusesABoundOfAnOrderThatIsOutOfRange(int maxPerOrder) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PreheatProperties(maxPerOrder, TWO_DAYS, AllowUnsafeRedis.FALSE))
        .withMessageContaining("seckill.preheat.max-per-order");
  }

  @ParameterizedTest
  @ValueSource(longs = {7_199, 2_592_001})
  void refusesARetentionThatIsOutOfRange(long seconds) {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new PreheatProperties(100, Duration.ofSeconds(seconds), AllowUnsafeRedis.FALSE))
        .withMessageContaining("seckill.preheat.retention");
  }
}
