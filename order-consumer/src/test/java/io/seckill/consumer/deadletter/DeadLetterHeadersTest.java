package io.seckill.consumer.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.testing.Eventually;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadLetterHeadersTest {

  /** MySQL would refuse the row, and the message would stay at the head of the dead queue. */
  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, Long.MAX_VALUE})
  void replacesATimeThatCannotBeByNow(long time) {
    DeadLetter letter = read(time);

    long now = System.currentTimeMillis();
    assertThat(letter.firstFailedAt()).isCloseTo(now, within(Eventually.SOON.toMillis()));
    assertThat(letter.lastFailedAt()).isCloseTo(now, within(Eventually.SOON.toMillis()));
  }

  @Test
  void keepsTheTimeOfAClockThatIsAhead() {
    long ahead = System.currentTimeMillis() + 3_600_000;

    DeadLetter letter = read(ahead);

    assertThat(letter.firstFailedAt()).isEqualTo(ahead);
    assertThat(letter.lastFailedAt()).isEqualTo(ahead);
  }

  private static DeadLetter read(long time) {
    Map<String, Object> headers =
        Map.of(DeadLetterHeaders.FIRST_FAILED_AT, time, DeadLetterHeaders.LAST_FAILED_AT, time);
    return DeadLetterHeaders.read(
        DeadLetterDrainTest.message(1, new BasicProperties.Builder().headers(headers).build(), ""));
  }
}
