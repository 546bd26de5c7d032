package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.IntStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Work of one kind never waits for a connection that work of another kind holds. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ConnectionPoolsIT {

  private static final long SKU = 1_003;
  private static final String GATEWAY = "0123456789abcdef".repeat(2);
  private static final String HEARTBEAT =
      """
      {"name":"g1","fallback":"manual","term":0,"redis":"USABLE","forMs":0,"breaker":"CLOSED",
      "failurePercent":0,"failuresPerSecond":0}
      """;

  @Test
  void storesOrdersWhileEverybodyElseHasToWait() throws SQLException { // fault 30
    Map<String, String> small =
        Map.of(
            "spring.datasource.hikari.maximum-pool-size", "2",
            "spring.datasource.hikari.connection-timeout", "2000",
            "seckill.fallback", "manual");
    try (TestConsumer consumer = TestConsumer.start(small);
        OrderFlood flood = new OrderFlood(consumer.vhost());
        Connection observer = consumer.database().connect()) {
      new Sales(consumer).open(SKU, "LIMITED", 5, 1_000);
      List<OrderMessage> orders =
          rangeClosed(1, 100)
              .mapToObj(user -> OrderFlood.order(SKU, PurchasePolicy.LIMITED, user, 1))
              .toList();
      DataSource others = consumer.bean(DataSource.class);
      try (Connection first = others.getConnection();
          Connection second = others.getConnection()) {
        assertThat(first).isNotSameAs(second);

        flood.publish(orders);

        eventually().until(() -> count(observer) == orders.size());
        assertThat(paused(consumer)).as("queues paused").isZero();
        Answer payment =
            consumer
                .api()
                .post(
                    "/internal/v1/orders/" + orders.get(0).orderId() + "/payment",
                    "{\"userId\":1}");
        assertThat(payment.status()).isEqualTo(503);
        assertThat(payment.code()).isEqualTo("UNAVAILABLE");
        assertThat(consumer.api().put("/internal/v1/gateways/" + GATEWAY, HEARTBEAT).status())
            .as("heartbeat")
            .isEqualTo(200);
        assertThat(consumer.api().post("/internal/v1/fallback/enter").status())
            .as("an operator begins a fallback")
            .isEqualTo(200);
      }
    }
  }

  private static long paused(TestConsumer consumer) {
    return consumer.bean(MeterRegistry.class).get("seckill.consumer.intake.state").gauges().stream()
        .filter(gauge -> gauge.value() == 3)
        .count();
  }

  private static long count(Connection connection) throws SQLException {
    return Rows.number(connection, "SELECT COUNT(*) FROM orders WHERE sku_id = " + SKU);
  }
}
