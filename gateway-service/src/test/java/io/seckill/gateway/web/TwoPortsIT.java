package io.seckill.gateway.web;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.Bounded;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.Ports;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(TestServers.class)
class TwoPortsIT {

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/admin/v1/skus/1001",
        "/admin/v1/openapi.yaml",
        "/actuator/health",
        "/actuator/prometheus",
        "/ops",
        "/ops/anything",
        "/api/v1/metrics/summary",
        "/api/v1/health",
        "/%61dmin/v1/skus/1001",
        "/admin;x=1/v1/skus/1001",
        "/actuator;a/health"
      })
  void keepsOperatorsAddressesOffTheShopperPort(String path) {
    GatewayAnswer answer =
        gateway.send(gateway.shop(path).header("Authorization", TestGateway.operator()));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(404);
    assertThat(answer.code()).isEqualTo("NOT_FOUND");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/api/v1/skus/1001",
        "/api/v1/orders",
        "/api/v1/orders/12345",
        "/api/v1/openapi.yaml",
        "/",
        "/api/v1/%6frders"
      })
  void keepsShoppersAddressesOffTheAdminPort(String path) {
    GatewayAnswer answer =
        gateway.send(gateway.admin(path).header("Authorization", TestGateway.shopper(7)));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(404);
    assertThat(answer.code()).isEqualTo("NOT_FOUND");
  }

  @Test
  void doesNotSellOnTheAdminPort() {
    GatewayAnswer answer =
        gateway.send(
            gateway
                .admin("/api/v1/skus/1001/orders")
                .header("Authorization", TestGateway.shopper(7))
                .POST(java.net.http.HttpRequest.BodyPublishers.ofString("{\"quantity\":1}")));

    assertThat(answer.status()).isEqualTo(404);
  }

  @Test
  void answersProbesOnTheAdminPortWithoutAToken() {
    eventually()
        .until(() -> gateway.send(gateway.admin("/actuator/health/readiness")).status() == 200);
    assertThat(gateway.send(gateway.admin("/actuator/health/liveness")).status()).isEqualTo(200);
    assertThat(gateway.send(gateway.admin("/actuator/prometheus")).status()).isEqualTo(200);
    assertThat(gateway.send(gateway.admin("/actuator/health")).body()).doesNotContain("components");
  }

  /** Kubernetes sends purchases, or starts again, by these. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "readiness/readinessState",
        "readiness/redis",
        "readiness/consumer",
        "readiness/warmUp",
        "readiness/issuerKeys",
        "startup/warmUp",
        "startup/issuerKeys"
      })
  void probesHaveTheirParts(String part) {
    GatewayAnswer answer = gateway.send(gateway.admin("/actuator/health/" + part));

    assertThat(answer.status()).as(answer.toString()).isIn(200, 503);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/actuator/env", "/actuator/beans", "/actuator/heapdump", "/actuator/loggers"})
  void exposesNothingElseOfTheActuator(String path) {
    assertThat(gateway.send(gateway.admin(path)).status()).isEqualTo(404);
  }

  @Tag("proof")
  @Test
  void finishesWhatIsInHandOnTheAdminPortWhenItStops() throws Exception {
    try (SlowConsumer slow = SlowConsumer.start()) {
      TestGateway own =
          TestGateway.start(
              stage.redisDatabase(),
              stage.mysqlDatabase(),
              slow.url(),
              "seckill.consumer.timeout=60s");
      CompletableFuture<GatewayAnswer> inHand =
          CompletableFuture.supplyAsync(() -> own.adminGet("/admin/v1/skus/1001"));
      slow.awaitRequest();

      CompletableFuture<Void> stop = CompletableFuture.runAsync(own::close);
      slow.answer(404, "{\"code\":\"UNKNOWN_SKU\",\"detail\":\"No.\"}");

      assertThat(Bounded.get(inHand).code()).isEqualTo("UNKNOWN_SKU");
      Bounded.get(stop);
      assertThat(Ports.isOpen(own.adminPort())).isFalse();
      assertThat(Ports.isOpen(own.shopPort())).isFalse();
    }
  }

  /** Its text could be control characters of a terminal, and its lines fill the disk. */
  @Test
  void countsARequestThatCannotBeReadAndLogsNothingOfIt() {
    try (LoggedLines lines = LoggedLines.of("reactor.netty.http.server")) {
      for (int port : new int[] {gateway.shopPort(), gateway.adminPort()}) {
        double before = unreadable();
        try (RawConnection caller = new RawConnection(port)) {
          caller.send("GET /\u001b[2K HTTP/1.1\r\n\r\n"); // without Host

          assertThat(caller.answer())
              .startsWith("HTTP/1.1 400 ")
              .contains("\"code\":\"INVALID_REQUEST\"");
        }
        assertThat(unreadable()).isEqualTo(before + 1);
      }
      assertThat(lines.texts()).isEmpty();
    }
  }

  private static double unreadable() {
    return gateway.counter("seckill.requests.refused", "code", "INVALID_REQUEST");
  }

  @Test
  void answersGarbageOnTheWireWithoutLeakingAnything() {
    assertThat(RawConnection.exchange(gateway.shopPort(), "NONSENSE\r\n\r\n"))
        .startsWith("HTTP/1.1 4")
        .doesNotContain("Exception");
  }
}
