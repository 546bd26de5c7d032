package io.seckill.consumer.shards;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardReaderTest {

  private static final long NOW = 1_790_000_000_000L;

  /** The units that all gateways ask for, and since when the first purchase of any waits. */
  @ParameterizedTest
  @CsvSource({
    ", 0, 0",
    "nonsense, 0, 0",
    "3:1789999999900@aaaa, 3, 100",
    "1:1789999999990@bbbb 9:1789999999800@aaaa, 10, 200",
    "9:1789999999800@aaaa 1:1789999999990@bbbb 2:1789999999995@c7, 12, 200",
    "1:1789999999990@bbbb 9:1789999999500@over, 1, 10",
    "1:1790000000100@ahead, 1, 0",
    "1:1790000000500@set-back, 0, 0"
  })
  void demandsOfGatewaysAddUp(@Nullable String asked, long units, long longestMs) {
    ShardState state = ShardReader.state(7, List.of(NOW, 1L, 0L, 20L, asked == null ? "" : asked));

    assertThat(state.asked()).isEqualTo(units);
    assertThat(state.askedForMs()).isEqualTo(longestMs);
  }
}
