package io.seckill.consumer.intake;

import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.broker.ProcessName;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.deadletter.DeadLetterPublisher;
import io.seckill.consumer.orders.Compensation;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.SkuProgress;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoredBatch;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Eventually;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.SmartLifecycle;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class StoreFromQueueIT {

  private static final String QUEUE = BrokerTopology.orderQueue(1);

  private static final long SKU = 6001; // of this queue

  private static final TestConsumer consumer = TestConsumer.shared(DeadLetterIT.SETTINGS);
  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());

  @Test
  void storesEveryOrderOnceAndAcksItAlsoInAQueueThatWasDeletedBefore() throws Exception {
    deleteTheQueue();
    long before = lags();
    long storedBefore = stored();
    new Sales(consumer).open(SKU, "LIMITED", 5, 10_000);
    List<OrderMessage> orders =
        IntStream.range(0, 2_000)
            .mapToObj(i -> OrderFlood.order(SKU, PurchasePolicy.LIMITED, 1 + i, 1 + i % 3))
            .toList();
    orders.forEach(
        order ->
            consumer
                .redis()
                .hset(
                    RedisKeys.bucket(SKU, 0),
                    order.orderId().toString(),
                    AdmissionRecord.queued(order).format()));

    flood.publishTogether(orders);

    eventually().untilAsserted(() -> assertThat(count("COUNT(*) FROM orders")).isEqualTo(2_000));
    long units = orders.stream().mapToLong(OrderMessage::quantity).sum();
    assertThat(count("stock FROM products")).isEqualTo(10_000 - units);
    assertThat(count("settled FROM products")).isEqualTo(2_000);
    assertThat(count("SUM(owned_count) FROM user_quota")).isEqualTo(units);
    consumer.vhost().awaitEmpty(QUEUE);
    eventually()
        .untilAsserted(
            () -> {
              assertThat(consumer.redis().hvals(RedisKeys.bucket(SKU, 0)))
                  .allMatch(record -> record.contains("|C|"));
              assertThat(consumer.redis().hget(RedisKeys.sku(SKU), "settled")).isEqualTo("2000");
            });
    assertThat(lags() - before).isEqualTo(2_000);
    assertThat(stored() - storedBefore).isEqualTo(2_000);
  }

  private static long lags() {
    return consumer.bean(MeterRegistry.class).get("seckill.consumer.lag").timer().count();
  }

  private static long stored() {
    return consumer.api().get("/internal/v1/metrics/summary").number("stored");
  }

  @Test
  void aDefectInSettlingEndsTheSession() throws Exception {
    OrderMessage order = OrderFlood.order(SKU, PurchasePolicy.LIMITED, 1, 1);
    StoredBatch ofNoDelivery = new StoredBatch(List.of(new Stored(order)), List.of(), List.of());
    SettlingThread settling =
        new SettlingThread(
            "settling-of-the-test",
            consumer.bean(Settler.class),
            new IntakeProgress(System::nanoTime));
    settling.start();
    try (IntakeSession session =
        IntakeSession.open(consumer.bean(BrokerConnections.class), QUEUE, 1)) { // as a standby
      settling.settle(new Settler.StoredDeliveries(session, List.of(), ofNoDelivery));
      assertThat(settling.awaitIdle(Eventually.SOON)).isTrue();

      assertThat(session.isOpen()).isFalse();
    } finally {
      settling.stop(Duration.ofSeconds(1));
    }
  }

  /** A barrier behind them would else pass over orders that are in no store yet. */
  @Test
  void aClosedSessionReturnsItsOrdersBeforeTheStandbyGetsLaterOnes() throws Exception {
    String queue = "orders-of-a-closed-session";
    BrokerConnections connections = consumer.bean(BrokerConnections.class);
    try (Connection connection = consumer.vhost().connect();
        Channel channel = connection.createChannel()) {
      channel.queueDeclare(
          queue,
          true,
          false,
          false,
          Map.of("x-queue-type", "quorum", "x-single-active-consumer", true));
      channel.confirmSelect();
      for (int i = 1; i <= 20; i++) {
        channel.basicPublish("", queue, null, Integer.toString(i).getBytes(UTF_8));
      }
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
      IntakeSession active = IntakeSession.open(connections, queue, 10);
      try (IntakeSession standby = IntakeSession.open(connections, queue, 10)) {
        try (active) {
          eventually().until(() -> active.unacked() == 10);
          assertThat(active.isActive()).isTrue();
          assertThat(standby.isActive()).isFalse();
          active.ack(active.inbox().take(3, Eventually.SOON, Eventually.SOON));
        }

        Delivery first = standby.inbox().take(1, Duration.ZERO, Eventually.SOON).get(0);
        assertThat(new String(first.body(), UTF_8)).isEqualTo("4");
      } finally {
        channel.queueDelete(queue);
      }
    }
  }

  /** A crash before would lose the others. */
  @Test
  void aMessageIsAckedWhenTheLastOfItsOrdersIsSettled() throws Exception {
    String queue = "orders-of-one-message";
    BrokerConnections connections = consumer.bean(BrokerConnections.class);
    List<OrderMessage> orders =
        IntStream.rangeClosed(1, 3)
            .mapToObj(user -> OrderFlood.order(SKU, PurchasePolicy.LIMITED, user, 1))
            .toList();
    try (Connection connection = consumer.vhost().connect();
        Channel channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
      channel.confirmSelect();
      channel.basicPublish("", queue, null, OrderFlood.lines(orders).getBytes(UTF_8));
      channel.basicPublish("", queue, null, OrderFlood.lines(orders.subList(0, 1)).getBytes(UTF_8));
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
      try (IntakeSession session = IntakeSession.open(connections, queue, 10)) {
        List<Delivery> all = session.inbox().take(4, Eventually.SOON, Eventually.SOON);
        assertThat(all).extracting(Delivery::order).startsWith(orders.toArray(OrderMessage[]::new));
        session.ack(List.of(all.get(2), all.get(0), all.get(3)));
        assertThat(session.unacked()).isEqualTo(1);
      }
      try (IntakeSession next = IntakeSession.open(connections, queue, 10)) {
        List<Delivery> again = next.inbox().take(3, Eventually.SOON, Eventually.SOON);
        assertThat(again).extracting(Delivery::order).isEqualTo(orders);
        next.ack(again);
      }
      try (IntakeSession last = IntakeSession.open(connections, queue, 10)) {
        assertThat(last.inbox().take(1, Duration.ZERO, Duration.ofSeconds(1))).isEmpty();
      } finally {
        channel.queueDelete(queue);
      }
    }
  }

  /** While they are pending, their sweep writes the results of those orders again. */
  @Test
  void unitsStayPendingWhileRedisMayLackTheResultsOfTheirOrders() {
    long sku = SKU + 1;
    new Sales(consumer).open(sku, "LIMITED", 5, 10);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, 1, 2);
    consumer
        .redis()
        .hset(
            RedisKeys.bucket(sku, 0),
            order.orderId().toString(),
            AdmissionRecord.queued(order).format());
    consumer.update(
        "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units)"
            + " VALUES (?, ?, 1, 2, 2, 0)", // the sweep waits: Redis has the epoch before
        order.orderId().value(),
        sku);
    Compensation pending = new Compensation(order.orderId(), sku, 1, 1, 2, 0, order.requestId());
    StoredBatch batch = new StoredBatch(List.of(), List.of(pending), List.of());

    settler(false).announce(new Settler.StoredDeliveries(null, List.of(), batch));
    assertThat(isPending(order)).isTrue();
    assertThat(consumer.redis().get(RedisKeys.stock(sku))).isEqualTo("10");

    settler(true).announce(new Settler.StoredDeliveries(null, List.of(), batch));
    assertThat(isPending(order)).isFalse();
    assertThat(consumer.redis().get(RedisKeys.stock(sku))).isEqualTo("12");
  }

  /** {@code written}: whether Redis confirms results. */
  private static Settler settler(boolean written) {
    OrderResults results =
        new OrderResults(
            consumer.bean(UnifiedJedis.class),
            consumer.bean(RedisCallGuard.class),
            new SimpleMeterRegistry()) {
          @Override
          public boolean write(Collection<OrderResult> orders, Collection<SkuProgress> progress) {
            return written;
          }
        };
    return new Settler(
        results,
        consumer.bean(Compensations.class),
        consumer.bean(DeadLetterPublisher.class),
        consumer.bean(DeadLetterPolicy.class),
        consumer.bean(Barriers.class));
  }

  private static boolean isPending(OrderMessage order) {
    return consumer.number(
            "SELECT COUNT(*) FROM compensation WHERE order_id = ? AND done_at IS NULL",
            order.orderId().value())
        == 1;
  }

  /** The broker cancels its consumer, whose connection stays open. */
  private static void deleteTheQueue() throws Exception {
    eventually().until(() -> consumer.gauge("seckill.consumer.intake.state", "queue", QUEUE) == 2);
    try (Connection connection = consumer.vhost().connect()) {
      connection.createChannel().queueDelete(QUEUE);
      eventually()
          .ignoreExceptionsInstanceOf(IOException.class) // there is no such queue
          .until(
              () -> connection.createChannel().queueDeclarePassive(QUEUE).getConsumerCount() > 0);
    }
  }

  /** Spring stops the highest phase first, and the next lower one when it has stopped. */
  @Test
  void theIntakeStopsBeforeTheSweepersDo() {
    int intake = consumer.bean(Intake.class).getPhase();

    assertThat(consumer.beans(Sweeper.class)).hasSizeGreaterThan(5);
    assertThat(consumer.beans(SmartLifecycle.class))
        .filteredOn(bean -> bean.getClass().getPackage().equals(Sweeper.class.getPackage()))
        .singleElement()
        .satisfies(sweepers -> assertThat(sweepers.getPhase()).isLessThan(intake));
  }

  /** Two consumers of a queue differ in the management UI by host and process. */
  @Tag("proof")
  @Test
  void theBrokerShowsWhoConsumes() {
    String instance = ProcessName.withRole("order-consumer");
    assertThat(instance).endsWith(":" + ProcessHandle.current().pid());

    eventually()
        .untilAsserted(
            () ->
                assertThat(consumer.vhost().consumerTags())
                    .contains(
                        instance + " " + BrokerTopology.orderQueue(0),
                        instance + " " + BrokerTopology.orderQueue(3)));
    eventually()
        .untilAsserted(
            () ->
                assertThat(consumer.vhost().connectionNames())
                    .contains(
                        instance + " intake of " + BrokerTopology.orderQueue(0),
                        instance + " dead letters, queue lengths"));
  }

  private static long count(String what) {
    return consumer.number("SELECT " + what + " WHERE sku_id = ?", SKU);
  }
}
