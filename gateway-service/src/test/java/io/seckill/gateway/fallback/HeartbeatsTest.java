package io.seckill.gateway.fallback;

import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.FallbackMode;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.backends.TestCalls;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.testing.CannedRedis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.springframework.http.client.ReactorResourceFactory;

class HeartbeatsTest {

  private final AtomicLong receivedNanos = new AtomicLong();

  /** Order-consumer counts from when it receives a heartbeat, so the gateway must begin earlier. */
  @Test
  void mayConfirmForHalfAMinuteFromBeforeAHeartbeatIsReceived() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext("/", this::answer);
    server.start();
    ReactorResourceFactory resources = new ReactorResourceFactory();
    resources.start();
    ConsumerClient consumer =
        TestCalls.consumer(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()), resources);
    Promises promises =
        new Promises(
            FallbackMode.AUTOMATIC,
            (sku, term) -> true,
            new PromisedOrders(),
            () -> receivedNanos.get() + Promises.HEARD_WITHIN.toNanos());
    CannedRedis redis = new CannedRedis(command -> "OK");
    Heartbeats heartbeats =
        new Heartbeats(
            "g".repeat(70), // longer than a heartbeat's may be
            FallbackMode.AUTOMATIC,
            consumer,
            RedisBreakers.of(redis, new SimpleMeterRegistry()),
            TestProducts.read(true),
            promises);
    try {
      eventually().until(() -> promises.awaitedTerm() == 1);

      assertThat(promises.isHeard()).isFalse();
    } finally {
      heartbeats.close();
      consumer.destroy();
      server.stop(0);
    }
  }

  /** Else no heartbeat would be sent, and with a fallback mode no order confirmed. */
  @Test
  void aNameThatIsTooLongIsCutAtItsBeginning() {
    assertThat(Heartbeats.shown("gateway:8080")).isEqualTo("gateway:8080");
    assertThat(Heartbeats.shown("g".repeat(63) + ":8080")).isEqualTo("g".repeat(59) + ":8080");
  }

  private void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().readAllBytes();
    receivedNanos.set(System.nanoTime());
    try (exchange) {
      byte[] body = "{\"term\":1,\"failurePercent\":50,\"failuresPerSecond\":3}".getBytes(US_ASCII);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
