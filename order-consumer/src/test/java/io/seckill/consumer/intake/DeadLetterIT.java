package io.seckill.consumer.intake;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.IntStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.consumer.deadletter.DeadLetterHeaders;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Eventually;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class DeadLetterIT {

  private static final long SKU = 17;

  /** The service with them is that of other classes, too. */
  static final Map<String, String> SETTINGS = Map.of("seckill.intake.max-attempts", "3");

  private static final TestConsumer consumer = TestConsumer.shared(SETTINGS);
  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());
  private static final StoredInvariants database = new StoredInvariants(consumer.sql());
  private static final AdmissionFixture redis = new AdmissionFixture(consumer.redis());

  @Test
  void keepsAnOrderThatFailsTooOftenAndTakesItsReplayThroughAllGuards() throws Exception {
    new Sales(consumer).open(SKU, "LIMITED", 5, 1_000);
    List<OrderMessage> orders =
        rangeClosed(1, 30).mapToObj(user -> OrderFlood.order(SKU, LIMITED, user, 1)).toList();
    OrderMessage poison = orders.get(12);
    OrderMessage slow = orders.get(13);
    redis.admit(orders);
    consumer.asRoot(
        "CREATE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW IF NEW.user_id = 13 THEN"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poisoned';"
            + " ELSEIF NEW.user_id = 14 THEN SIGNAL SQLSTATE '70100'"
            + " SET MYSQL_ERRNO = 1317, MESSAGE_TEXT = 'took too long'; END IF");

    flood.publishTogether(orders);

    database.await("SELECT COUNT(*) FROM dead_letter WHERE reason = 'FAILED_TOO_OFTEN'", 2);
    database.awaitOrders(SKU, 28);
    assertIsDead(poison, "poisoned");
    assertIsDead(slow, "took too long");

    consumer.update("UPDATE dead_letter SET state = 'REPLAYED' WHERE sku_id = ?", SKU);
    replay(poison, 3);
    database.await("SELECT attempts FROM dead_letter WHERE state = 'OPEN' AND sku_id = " + SKU, 6);

    consumer.asRoot("DROP TRIGGER poison");
    consumer.update("UPDATE dead_letter SET state = 'REPLAYED' WHERE sku_id = ?", SKU);
    replay(poison, 6);
    replay(slow, 3);
    database.awaitOrders(SKU, 30);
    eventually().untilAsserted(() -> assertThat(redis.result(poison)).isEqualTo("C"));
    assertThat(database.stock(SKU)).isEqualTo(970);
    database.check();
  }

  private static void assertIsDead(OrderMessage order, String why) {
    String letter = " FROM dead_letter WHERE order_id = " + order.orderId();
    assertThat(database.number("SELECT attempts" + letter)).isEqualTo(3);
    assertThat(database.number("SELECT LENGTH(payload)" + letter))
        .as("of this order alone")
        .isEqualTo(OrderMessageCodec.encode(order).length());
    assertThat(database.number("SELECT LOCATE('" + why + "', detail) > 0" + letter)).isEqualTo(1);
    eventually().untilAsserted(() -> assertThat(redis.result(order)).isEqualTo("D"));
  }

  /** The first try is returned, the next one declares the binding again. */
  @Test
  void keepsAnOrderAtTheBrokerUntilItsDeadLetterIsConfirmed() throws Exception {
    long sku = SKU + 1;
    new Sales(consumer).open(sku, "LIMITED", 5, 1_000);
    OrderMessage order = OrderFlood.order(sku, UNLIMITED, 1, 1);
    redis.admit(List.of(order));
    flood.publish(OrderFlood.order(sku, UNLIMITED, 2, 1)); // its publisher declares the binding
    database.await("SELECT COUNT(*) FROM dead_letter WHERE sku_id = " + sku, 1);
    try (Connection connection = consumer.vhost().connect();
        Channel channel = connection.createChannel()) {
      channel.queueUnbind(
          BrokerTopology.DEAD_QUEUE, BrokerTopology.DEAD_EXCHANGE, BrokerTopology.DEAD_ROUTING_KEY);
    }

    flood.publish(order);

    database.await("SELECT COUNT(*) FROM dead_letter WHERE sku_id = " + sku, 2);
    eventually().untilAsserted(() -> assertThat(redis.result(order)).isEqualTo("D"));
  }

  @Test
  void keepsADeadLetterOnceHoweverOftenItComes() throws Exception {
    for (int i = 0; i < 5; i++) {
      publishDead(consumer, "not an order");
    }

    database.await("SELECT COUNT(*) FROM dead_letter WHERE reason = 'DROPPED_BY_BROKER'", 1);
    consumer.vhost().awaitEmpty(BrokerTopology.DEAD_QUEUE);
    assertThat(database.number("SELECT COUNT(*) FROM dead_letter WHERE sku_id IS NULL")).isOne();
    eventually() // they are counted after their acks
        .untilAsserted(
            () ->
                assertThat(droppedByBroker())
                    .as("dead letters that no consumer has published")
                    .isEqualTo(5));
  }

  private static double droppedByBroker() {
    return consumer.counter("seckill.consumer.dead.letters", "reason", "DROPPED_BY_BROKER");
  }

  /**
   * A quorum queue drops a message that was delivered too often, from RabbitMQ 4.0 on after 20
   * times.
   */
  @Tag("proof")
  @Test
  void takesNoDeadLetterWhileMySqlIsReadOnly() throws Exception { // fault 28
    TestConsumer own = TestConsumer.start(SETTINGS);
    TestServers.mysql().setReadOnly(true);
    try {
      for (int i = 0; i < 3; i++) {
        publishDead(own, "not an order " + i);
      }
      await()
          .atMost(Duration.ofMinutes(2))
          .during(Duration.ofSeconds(1)) // ten polls of the queue
          .until(() -> own.vhost().queueDepth(BrokerTopology.DEAD_QUEUE).total() == 3);
      own.close();
      assertThat(deliveriesOfDeadLetters(own.vhost())).hasSize(3).allMatch(count -> count == 0);
    } finally {
      TestServers.mysql().setReadOnly(false);
    }
    try (TestConsumer next = own.another(SETTINGS)) {
      new StoredInvariants(next.sql()).await("SELECT COUNT(*) FROM dead_letter", 3);
    }
  }

  private static void publishDead(TestConsumer consumer, String body) throws Exception {
    try (Connection connection = consumer.bean(BrokerConnections.class).open("test");
        Channel channel = connection.createChannel()) {
      BrokerTopology.declare(channel); // the consumer may not have declared it yet
      channel.confirmSelect();
      channel.basicPublish(
          BrokerTopology.DEAD_EXCHANGE,
          BrokerTopology.DEAD_ROUTING_KEY,
          MessageProperties.PERSISTENT_BASIC,
          body.getBytes(StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
    }
  }

  /** How often each dead letter was delivered and returned to the queue. */
  private static List<Long> deliveriesOfDeadLetters(RabbitVhost vhost) throws Exception {
    List<Long> counts = new ArrayList<>();
    try (Connection connection = vhost.connect();
        Channel channel = connection.createChannel()) {
      GetResponse letter;
      while ((letter = channel.basicGet(BrokerTopology.DEAD_QUEUE, false)) != null) {
        Map<String, Object> headers = letter.getProps().getHeaders();
        Object count = headers == null ? null : headers.get("x-delivery-count");
        counts.add(count instanceof Number number ? number.longValue() : 0L);
      }
    }
    return counts;
  }

  private static void replay(OrderMessage order, int attempts) {
    flood.publishRaw(
        SKU, OrderMessageCodec.encode(order), Map.of(DeadLetterHeaders.ATTEMPTS, attempts));
  }
}
