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
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.client.ReactorResourceFactory;

class HeartbeatsTest {

  private final AtomicLong receivedNanos = new AtomicLong();
  private final ReactorResourceFactory resources = new ReactorResourceFactory();
  private volatile String more = "";
  private HttpServer server;
  private ConsumerClient consumer;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.createContext("/", this::answer);
    server.start();
    resources.start();
    consumer =
        TestCalls.consumer(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()), resources);
  }

  @AfterEach
  void stop() {
    consumer.destroy();
    server.stop(0);
  }

  /** Order-consumer counts from when it receives a heartbeat, so the gateway must begin earlier. */
  @Test
  void mayConfirmForHalfAMinuteFromBeforeAHeartbeatIsReceived() {
    Promises promises = promises(() -> receivedNanos.get() + Promises.HEARD_WITHIN.toNanos());
    try (Heartbeats beating = heartbeats(promises)) {
      assertThat(beating).isNotNull();
      eventually().until(() -> promises.awaitedTerm() == 1);

      assertThat(promises.isHeard()).isFalse();
    }
  }

  /** As after it has removed this gateway, whose machine slept, and registered it again. */
  @Test
  void takesBackATransferThatOrderConsumerHasForgotten() {
    Promises promises = promises(System::nanoTime);
    try (Heartbeats beating = heartbeats(promises)) {
      assertThat(beating).isNotNull();
      eventually().until(() -> promises.awaitedTerm() == 1);
      promises.transferred(1, promises.registration());
      long registration = promises.registration();

      more = ",\"transferred\":0";

      eventually().until(() -> promises.transferred() == 0);
      assertThat(promises.registration()).isGreaterThan(registration);
    }
  }

  private static Promises promises(LongSupplier nanoTime) {
    return new Promises(
        FallbackMode.AUTOMATIC,
        (sku, term) -> true,
        new PromisedOrders(),
        nanoTime,
        System::currentTimeMillis);
  }

  private Heartbeats heartbeats(Promises promises) {
    CannedRedis redis = new CannedRedis(command -> "OK");
    return new Heartbeats(
        "g".repeat(70), // longer than a heartbeat's may be
        FallbackMode.AUTOMATIC,
        consumer,
        RedisBreakers.of(redis, new SimpleMeterRegistry()),
        TestProducts.read(true),
        promises);
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
      String json = "{\"term\":1,\"failurePercent\":50,\"failuresPerSecond\":3%s}";
      byte[] body = json.formatted(more).getBytes(US_ASCII);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
