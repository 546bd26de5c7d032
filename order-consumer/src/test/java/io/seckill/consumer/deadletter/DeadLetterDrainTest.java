package io.seckill.consumer.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.AMQP.Queue;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.impl.AMQImpl;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.storage.NoWrites;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.ChannelProxy;
import org.springframework.amqp.rabbit.connection.Connection;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.connection.RabbitUtils;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionOperations;

class DeadLetterDrainTest {

  private final Deque<GetResponse> queue = new ArrayDeque<>();
  private final Deque<Queue.DeclareOk> looks = new ArrayDeque<>();
  private final List<String> steps = new ArrayList<>();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Rows rows = new Rows();
  private final DeadLetterDrain drain =
      new DeadLetterDrain(
          (ConnectionFactory) channel(),
          rows,
          null,
          new NoWrites(),
          null,
          new DeadLetterMeters(meters));

  private void publish(String body) {
    queue.add(message(1 + queue.size(), new BasicProperties(), body));
  }

  static GetResponse message(long tag, BasicProperties properties, String body) {
    return new GetResponse(
        new Envelope(tag, false, "", ""), properties, body.getBytes(StandardCharsets.UTF_8), 0);
  }

  @Test
  void acksAMessageAfterAllOfItsBatchAreRows() throws IOException {
    publish("one");
    publish("two");

    assertThat(drain.moveBatch(channel(), new ArrayList<>())).isFalse();

    assertThat(steps)
        .containsExactly("stored one", "stored two", "basicAck [1, false]", "basicAck [2, false]");
    assertThat(dropped()).isEqualTo(2);
  }

  /** The broker drops a message with all its orders. */
  @Test
  void acksAMessageAfterAllOfItsOrdersAreRows() throws IOException {
    publish("{1}\n{2}\n{3}");

    assertThat(drain.moveBatch(channel(), new ArrayList<>())).isFalse();

    assertThat(steps)
        .containsExactly("stored {1}", "stored {2}", "stored {3}", "basicAck [1, false]");
    assertThat(dropped()).isEqualTo(3);
  }

  private double dropped() {
    return meters
        .get("seckill.consumer.dead.letters")
        .tag("reason", "DROPPED_BY_BROKER")
        .counter()
        .count();
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

  /** The broker counts each message that is fetched as a consumer. */
  @Test
  void passesNoBarrierWhileAnotherProcessHasFetchedAMessage() throws IOException {
    BasicProperties barrier = new BasicProperties.Builder().type("barrier.v1").build();
    looks.add(new AMQImpl.Queue.DeclareOk("", 0, 2));
    looks.add(new AMQImpl.Queue.DeclareOk("", 1, 1)); // the other process has given it back

    assertThat(drain.pass(channel(), List.of(message(1, barrier, "")))).isFalse();

    assertThat(steps).isEmpty();
  }

  /** A cached channel would keep from the next sweep what was fetched and not acked. */
  @Test
  void closesAChannelThatMayHaveFetchedMessages() {
    publish("one");
    Thread.currentThread().interrupt(); // before it fetches any

    drain.drain();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(steps).endsWith("close null");
    assertThat(RabbitUtils.isPhysicalCloseRequired()).isTrue();
    RabbitUtils.clearPhysicalCloseRequired();
  }

  /** The broker drops a message that was fetched too often. */
  @Test
  void fetchesNothingWhileMySqlAcceptsNoWrites() {
    publish("one");

    drain.drain();

    assertThat(queue).hasSize(1);
    RabbitUtils.clearPhysicalCloseRequired();
  }

  /** Of the dead queue; what it takes is not acked by the broker. */
  private ChannelProxy channel() {
    return (ChannelProxy)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ConnectionFactory.class, Connection.class, ChannelProxy.class},
            (proxy, method, args) -> {
              if (method.getName().equals("basicGet")) {
                assertThat(args).containsExactly("seckill.orders.dead", false);
                return queue.poll();
              }
              return switch (method.getName()) {
                case "createConnection", "createChannel" -> proxy;
                case "messageCount" -> (long) queue.size();
                case "queueDeclarePassive" -> looks.remove();
                default -> {
                  steps.add(method.getName() + " " + Arrays.toString(args));
                  yield null;
                }
              };
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
