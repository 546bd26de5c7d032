package io.seckill.consumer.deadletter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderMessages;
import io.seckill.testing.Eventually;
import java.util.List;
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
    return only(new BasicProperties.Builder().headers(headers).build(), "");
  }

  /** The broker drops a message with all its orders; our own services send them one by one. */
  @Test
  void eachOrderOfAMessageThatTheBrokerDroppedIsALetterOfItsOwn() {
    List<String> orders = List.of(order(1), order(2), "{}");
    String lines = String.join("\n", orders);
    Map<String, Object> dropped = Map.of("x-first-death-reason", "delivery_limit");

    List<DeadLetter> letters =
        DeadLetterHeaders.readAll(
            DeadLetterDrainTest.message(
                1, new BasicProperties.Builder().headers(dropped).build(), lines));

    assertThat(letters).extracting(letter -> new String(letter.payload(), UTF_8)).isEqualTo(orders);
    assertThat(letters)
        .extracting(letter -> letter.order() != null)
        .containsExactly(true, true, false);
    assertThat(letters).extracting(DeadLetter::detail).containsOnly("delivery_limit");
    Map<String, Object> unreadable = Map.of(BrokerTopology.REASON_HEADER, "UNREADABLE");
    assertThat(only(new BasicProperties.Builder().headers(unreadable).build(), lines).payload())
        .isEqualTo(lines.getBytes(UTF_8));
  }

  private static String order(int n) {
    return OrderMessageCodec.encode(OrderMessages.of(1601, n));
  }

  private static DeadLetter only(BasicProperties properties, String body) {
    List<DeadLetter> letters =
        DeadLetterHeaders.readAll(DeadLetterDrainTest.message(1, properties, body));
    assertThat(letters).hasSize(1);
    return letters.get(0);
  }
}
