package io.seckill.consumer.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.GetResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionOperations;

class DeadLetterDrainTest {

  private final Deque<GetResponse> queue = new ArrayDeque<>();
  private final List<String> steps = new ArrayList<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Rows rows = new Rows();
  private final DeadLetterDrain drain =
      new DeadLetterDrain(null, rows, null, null, null, new DeadLetterMeters(meters));

  private void publish(String body) {
    queue.add(
        new GetResponse(
            new Envelope(1 + queue.size(), false, "", ""),
            new BasicProperties(),
            body.getBytes(StandardCharsets.UTF_8),
            0));
  }

  @Test
  void acksAMessageAfterAllOfItsBatchAreRows() throws IOException {
    publish("one");
    publish("two");

    assertThat(drain.moveBatch(channel(), new ArrayList<>())).isFalse();

    assertThat(steps)
        .containsExactly("stored one", "stored two", "basicAck [1, false]", "basicAck [2, false]");
    assertThat(
            meters
                .get("seckill.consumer.dead.letters")
                .tag("reason", "DROPPED_BY_BROKER")
                .counter()
                .count())
        .isEqualTo(2);
  }

  @Test
  void leavesToTheBrokerWhatMySqlDoesNotTake() {
    publish("one");
    publish("refused");

    assertThatThrownBy(() -> drain.moveBatch(channel(), new ArrayList<>()))
        .isInstanceOf(DataAccessResourceFailureException.class);

    assertThat(steps).containsExactly("stored one");
  }

  @Test
  void takesABoundedNumberAtOnce() throws IOException {
    IntStream.range(0, 150).forEach(i -> publish("letter " + i));

    assertThat(drain.moveBatch(channel(), new ArrayList<>())).isTrue();
    assertThat(queue).hasSize(50);
    assertThat(drain.moveBatch(channel(), new ArrayList<>())).isFalse();
    assertThat(queue).isEmpty();
  }

  /** Of the dead queue; what it takes is not acked by the broker. */
  private Channel channel() {
    return (Channel)
        Proxy.newProxyInstance(
            Channel.class.getClassLoader(),
            new Class<?>[] {Channel.class},
            (proxy, method, args) -> {
              if (method.getName().equals("basicGet")) {
                assertThat(args).containsExactly("seckill.orders.dead", false);
                return queue.poll();
              }
              steps.add(method.getName() + " " + List.of(args));
              return null;
            });
  }

  private final class Rows extends DeadLetterTable {

    Rows() {
      super(JdbcClient.create(new JdbcTemplate()), TransactionOperations.withoutTransaction());
    }

    @Override
    void keep(DeadLetter letter) {
      String body = new String(letter.payload(), StandardCharsets.UTF_8);
      if (body.equals("refused")) {
        throw new DataAccessResourceFailureException("read-only");
      }
      steps.add("stored " + body);
    }
  }
}
