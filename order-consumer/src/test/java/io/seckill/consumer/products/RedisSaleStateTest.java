package io.seckill.consumer.products;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisSaleStateTest {

  @ParameterizedTest
  @CsvSource({
    "3, 10, 5, false",
    "3, 11, 5, false",
    "3, 9, 5, true",
    "2, 10, 5, true",
    "4, 10, 5, true",
    "0, 10, 5, true", // being loaded
    "3, '', 5, true",
    "3, x, 5, true",
    "'', 10, 5, true",
    "x, 10, 5, true",
    "3, 10, 6, false",
    "3, 12, 4, true",
    "3, 10, x, true",
    "3, 10, '', false", // loaded by a former release
  })
  void isBehindAnotherEpochAndLaterNumbers(
      String epoch, String seq, String changes, boolean behind) {
    RedisSaleState state = state(Map.of("epoch", epoch, "seq", seq, "changeSeq", changes));

    assertThat(state.isBehind(3, 10, 5)).isEqualTo(behind);
  }

  @ParameterizedTest
  @CsvSource({"'', false", "3, false", "1000000010, false", "1000000011, true"})
  void isTooFarAheadBeyondWhatRedisCanHold(String seq, boolean wrong) {
    assertThat(state(Map.of("seq", seq)).isTooFarAhead(10)).isEqualTo(wrong);
  }

  @ParameterizedTest
  @CsvSource({"4, '', 4", "0, 5, 5", "4, 5, 5", "'', '', 0"})
  void theHighestEpochIsLoadedOrLoading(String epoch, String loading, long highest) {
    RedisSaleState state = state(Map.of("epoch", epoch, "loading", loading));

    assertThat(state.highestEpoch()).isEqualTo(highest);
  }

  /** Empty values are those of absent fields. */
  private static RedisSaleState state(Map<String, String> values) {
    Map<String, String> fields = new HashMap<>(values);
    fields.values().removeIf(String::isEmpty);
    return new RedisSaleState(fields, null);
  }
}
