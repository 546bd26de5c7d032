package io.seckill.consumer.intake;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.broker.ProcessName;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.SmartLifecycle;

@ExtendWith(TestServers.class)
class StoreFromQueueIT {

  @AutoClose private static final TestConsumer consumer = TestConsumer.start();
  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());

  @Test
  void storesEveryOrderOnceAndAcksIt() {
    new Sales(consumer).open(1001, "LIMITED", 5, 10_000);
    List<OrderMessage> orders =
        IntStream.range(0, 2_000)
            .mapToObj(i -> OrderFlood.order(1001, PurchasePolicy.LIMITED, 1 + i, 1 + i % 3))
            .toList();
    orders.forEach(
        order ->
            consumer
                .redis()
                .hset(
                    RedisKeys.bucket(1001, 0),
                    order.orderId().toString(),
                    AdmissionRecord.queued(order).format()));

    flood.publish(orders);

    eventually()
        .untilAsserted(() -> assertThat(count("SELECT COUNT(*) FROM orders")).isEqualTo(2_000));
    long units = orders.stream().mapToLong(OrderMessage::quantity).sum();
    assertThat(count("SELECT stock FROM products WHERE sku_id = 1001")).isEqualTo(10_000 - units);
    assertThat(count("SELECT settled FROM products WHERE sku_id = 1001")).isEqualTo(2_000);
    assertThat(count("SELECT SUM(owned_count) FROM user_quota")).isEqualTo(units);
    eventually()
        .untilAsserted(
            () ->
                assertThat(consumer.vhost().queueDepth(BrokerTopology.orderQueue(1)).total())
                    .isZero());
    eventually()
        .untilAsserted(
            () -> {
              assertThat(consumer.redis().hvals(RedisKeys.bucket(1001, 0)))
                  .allMatch(record -> record.contains("|C|"));
              assertThat(consumer.redis().hget(RedisKeys.sku(1001), "settled")).isEqualTo("2000");
            });
    assertThat(consumer.bean(MeterRegistry.class).get("seckill.consumer.lag").timer().count())
        .isEqualTo(2_000);
    assertThat(consumer.api().get("/internal/v1/metrics/summary").number("stored"))
        .isEqualTo(2_000);
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

  private static long count(String sql) {
    return consumer.number(sql);
  }
}
