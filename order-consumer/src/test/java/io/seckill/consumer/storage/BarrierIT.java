package io.seckill.consumer.storage;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.LongStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** When a barrier has passed, every message published before it is stored in MySQL. */
@ExtendWith(TestServers.class)
class BarrierIT {

  /** All SKUs are of one partition. */
  private static final AtomicLong NEXT_SKU = new AtomicLong(41);

  private static final int PARTITION = Partition.ofSku(NEXT_SKU.get());
  private static final Duration SHORT = Duration.ofSeconds(1);

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(Map.of("seckill.intake.max-attempts", "100"));

  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());

  private final long sku = NEXT_SKU.getAndAdd(Partition.COUNT);

  @BeforeEach
  void open() {
    new Sales(consumer).open(sku, "LIMITED", 5, 10_000);
  }

  @Test
  void passesWhenEverythingPublishedBeforeIsStored() {
    flood.publish(orders(5_000));

    assertThat(barriers().pass(PARTITION, SOON)).isTrue();

    assertThat(stored(consumer)).isEqualTo(5_000);
  }

  @Test
  void passesWhenEveryDeadLetterBeforeItIsARow() {
    List<OrderMessage> unfit =
        rangeClosed(1, 250).mapToObj(user -> OrderFlood.order(sku, UNLIMITED, user, 1)).toList();
    flood.publish(unfit);

    assertThat(barriers().pass(PARTITION, SOON)).isTrue();

    assertThat(consumer.number("SELECT COUNT(*) FROM dead_letter WHERE sku_id = ?", sku))
        .isEqualTo(250);
  }

  /** As another order-consumer does that is suspended before it has stored the dead letter. */
  @Tag("proof")
  @Test
  void waitsForADeadLetterThatAnotherProcessHasFetched() throws Exception {
    TestConsumer slow = TestConsumer.start(Map.of("pause.deadLetterDrainer", "1h"));
    try (slow;
        OrderFlood its = new OrderFlood(slow.vhost());
        Connection connection = slow.vhost().connect()) {
      new Sales(slow).open(sku, "LIMITED", 5, 10_000);
      its.publish(List.of(OrderFlood.order(sku, UNLIMITED, 1, 1)));
      Channel other = connection.createChannel();
      eventually().until(() -> other.basicGet(BrokerTopology.DEAD_QUEUE, false) != null);

      try (TestConsumer next = slow.another(Map.of())) {
        assertThat(next.bean(Barriers.class).pass(PARTITION, SHORT)).isFalse();

        other.close();
        assertThat(next.bean(Barriers.class).pass(PARTITION, SOON)).isTrue();
        assertThat(next.number("SELECT COUNT(*) FROM dead_letter")).isEqualTo(1);
      }
    }
  }

  /** The order is the 13th of a message. */
  @Test
  void waitsForAnOrderThatIsTriedAgainAndAgain() throws Exception {
    consumer.asRoot(
        "CREATE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW IF NEW.user_id = 13 THEN"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poisoned'; END IF");
    flood.publishTogether(orders(30));

    assertThat(barriers().pass(PARTITION, SHORT)).isFalse();
    eventually().until(() -> stored(consumer) == 29);

    consumer.asRoot("DROP TRIGGER poison");
    assertThat(barriers().pass(PARTITION, SOON)).isTrue();
    assertThat(stored(consumer)).isEqualTo(30);
  }

  /** A foreign client may publish such a message. */
  @Test
  void isNoOrderWhenItsBodyIsOne() throws Exception {
    OrderMessage body = OrderFlood.order(sku, LIMITED, 1, 1);
    try (Connection connection = consumer.vhost().connect();
        Channel channel = connection.createChannel()) {
      channel.basicPublish(
          BrokerTopology.ORDERS_EXCHANGE,
          BrokerTopology.routingKey(PARTITION),
          new BasicProperties.Builder().type("barrier.v1").build(),
          OrderMessageCodec.encode(body).getBytes(UTF_8));
    }
    flood.publish(OrderFlood.order(sku, LIMITED, 2, 1));

    assertThat(barriers().pass(PARTITION, SOON)).isTrue();

    assertThat(stored(consumer)).isEqualTo(1);
    assertThat(consumer.number("SELECT user_id FROM orders WHERE sku_id = ?", sku)).isEqualTo(2);
  }

  @Test
  void aBarrierWithoutARowCanNeverPass() {
    long passed = barriers().send(PARTITION).orElseThrow();
    eventually().until(() -> barriers().havePassed(List.of(passed)).containsValue(true));
    long onItsWay = -7;
    consumer.update("INSERT INTO barrier (barrier_id) VALUES (?)", onItsWay);

    assertThat(barriers().havePassed(List.of(passed, onItsWay, -8L)))
        .isEqualTo(Map.of(passed, true, onItsWay, false));
    assertThat(barriers().havePassed(List.of())).isEmpty();
  }

  /** As after a failover to a standby that lacked the newest rows. */
  @Test
  void hasANumberThatNoLostBarrierHad() {
    long lost = barriers().send(PARTITION).orElseThrow();
    consumer.asRoot("DELETE FROM barrier");
    consumer.asRoot("ALTER TABLE barrier AUTO_INCREMENT = " + lost);

    assertThat(barriers().send(PARTITION).orElseThrow()).isNotEqualTo(lost);
  }

  @Tag("proof")
  @Test
  void outlivesTheProcessThatRaisedIt() {
    TestConsumer idle = TestConsumer.start(Map.of("seckill.intake.enabled", "false"));
    try (idle;
        OrderFlood its = new OrderFlood(idle.vhost())) {
      new Sales(idle).open(sku, "LIMITED", 5, 10_000);
      its.publish(orders(100));
      assertThat(idle.bean(Barriers.class).pass(PARTITION, SHORT)).isFalse();
    }

    try (TestConsumer next = idle.another(Map.of())) {
      eventually()
          .until(
              () -> next.number("SELECT COUNT(*) FROM barrier WHERE passed_at IS NOT NULL") == 1);
      assertThat(stored(next)).isEqualTo(100);
    }
  }

  private long stored(TestConsumer in) {
    return in.number("SELECT COUNT(*) FROM orders WHERE sku_id = ?", sku);
  }

  private Barriers barriers() {
    return consumer.bean(Barriers.class);
  }

  private List<OrderMessage> orders(int count) {
    return rangeClosed(1, count).mapToObj(user -> OrderFlood.order(sku, LIMITED, user, 1)).toList();
  }
}
