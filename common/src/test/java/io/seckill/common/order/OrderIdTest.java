package io.seckill.common.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderIdTest {

  private static final long SOME_TIME = OrderId.EPOCH_MS + 59_874_123_456L;

  @Test
  void carriesTimePartitionAndWorkerThroughItsTextForm() {
    OrderId id = OrderId.parse(OrderId.of(SOME_TIME, 15, 255, 1023).toString());

    assertThat(id.timeMs()).isEqualTo(SOME_TIME);
    assertThat(id.partition()).isEqualTo(15);
    assertThat(id.worker()).isEqualTo(255);
  }

  @Test
  void sortsByTimeBeforeAnythingElse() {
    assertThat(OrderId.of(SOME_TIME, 15, 255, 1023)).isLessThan(OrderId.of(SOME_TIME + 1, 0, 0, 0));
  }

  @Test
  void staysPositiveToTheEndOfItsEpoch() {
    long lastTime = OrderId.EPOCH_MS + (1L << 41) - 1;

    assertThat(OrderId.of(lastTime, 15, 255, 1023).value()).isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0",
        "-1",
        "+1",
        "01",
        "1.0",
        "1e3",
        " 1",
        "1 ",
        "abc",
        "９",
        "9223372036854775808",
        "9999999999999999999",
        "12345678901234567890"
      })
  void refusesTextThatIsNotAnId(String text) {
    assertThatThrownBy(() -> OrderId.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
