package io.seckill.gateway.web;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.Eventually;
import io.seckill.testing.Ports;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A load balancer that asks for readiness loses no request of a gateway that stops. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ShutdownDelayIT {

  private static final Duration DELAY = Duration.ofSeconds(6);

  private final GatewayStage stage = GatewayStage.shared();

  @Test
  void admitsOnNewConnectionsForTheDelayAfterItSaysThatItIsNotReady() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 1, 100_000);
    int configured = Ports.free(); // part of its name in order-consumer
    TestGateway gateway =
        stopping("seckill.shutdown.delay=" + DELAY.toSeconds() + "s", "server.port=" + configured);
    eventually().until(() -> readiness(gateway) == 200);
    eventually().until(() -> isRegistered(configured));
    int port = gateway.shopPort();
    long told = System.nanoTime();
    CompletableFuture<Void> stop = CompletableFuture.runAsync(gateway::close);
    eventually().until(() -> readiness(gateway) == 503);

    int admitted = 0;
    try {
      String answer;
      do {
        answer = buy(port, sku, stage.newUser());
        admitted += answer.startsWith("HTTP/1.1 202") ? 1 : 0;
      } while (!answer.isEmpty());
    } catch (UncheckedIOException refusedOrReset) { // reset: not yet accepted when it stopped
      assertThat(refusedOrReset).hasCauseInstanceOf(SocketException.class);
    }

    assertThat(Duration.ofNanos(System.nanoTime() - told)).isGreaterThanOrEqualTo(DELAY);
    assertThat(admitted).isPositive();
    assertThat(stop).succeedsWithin(Eventually.SOON);
    assertThat(isRegistered(configured)).as("after its stop").isFalse();
  }

  private boolean isRegistered(int port) {
    return stage
            .mysql()
            .sql("SELECT COUNT(*) FROM gateway_node WHERE name LIKE ?")
            .param("%:" + port)
            .query(Long.class)
            .single()
        == 1;
  }

  private static int readiness(TestGateway gateway) {
    return gateway.send(gateway.admin("/actuator/health/readiness").GET()).status();
  }

  private static String buy(int port, long sku, long user) {
    try (RawConnection connection = new RawConnection(port)) {
      String body = "{\"quantity\":1}";
      connection.send(
          """
          POST /api/v1/skus/%d/orders HTTP/1.1
          Host: shop
          Authorization: %s
          Idempotency-Key: key-of-the-user-%d
          Content-Type: application/json
          Content-Length: %d

          %s\
          """
              .formatted(sku, TestGateway.shopper(user), user, body.length(), body)
              .replace("\n", "\r\n"));
      return connection.answer();
    }
  }

  private TestGateway stopping(String... properties) {
    return TestGateway.start(
        stage.redisDatabase(), stage.mysqlDatabase(), stage.consumer().url(), properties);
  }
}
