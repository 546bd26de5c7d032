package io.seckill.system.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LoaderTest {

  private static final long SLOW_NANOS = 50_000_000;

  private final ExecutorService threads = Executors.newFixedThreadPool(4);
  private final AtomicInteger served = new AtomicInteger();
  private final Set<String> seen = ConcurrentHashMap.newKeySet();
  private HttpServer server;
  private volatile long delayNanos;

  @BeforeEach
  void serve() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          seen.add(exchange.getRequestURI().getPath());
          LockSupport.parkNanos(delayNanos);
          byte[] body = "{\"orderId\":\"77\"}".getBytes(StandardCharsets.US_ASCII);
          int status = served.incrementAndGet() % 2 == 0 ? 202 : 409;
          exchange.sendResponseHeaders(status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  @Test
  void sendsEachRequestOnceAndCountsAnswersByStatus() throws IOException {
    LoadResult result = Loader.run(plan(4, 100, LoadPlan.ASAP), answer -> {});

    assertThat(seen).hasSize(100);
    assertThat(result.answers(202)).isEqualTo(50);
    assertThat(result.answers(409)).isEqualTo(50);
    assertThat(result.broken()).isZero();
  }

  @Test
  void tellsTheListenerWhichRequestGotWhichAnswer() throws IOException {
    Set<Long> answered = ConcurrentHashMap.newKeySet();

    Loader.run(
        plan(2, 20, 2_000),
        answer -> {
          answered.add(answer.index());
          assertThat(answer.orderId()).isEqualTo("77");
        });

    assertThat(answered).hasSize(20);
  }

  @Test
  void countsTheWaitForAFreeConnectionAsLatency() throws IOException {
    delayNanos = SLOW_NANOS;

    LoadResult result = Loader.run(plan(1, 5, 1_000), answer -> {});

    // All five are due almost at once; the last waits for the four others.
    assertThat(result.percentileMs(100)).isGreaterThan(4 * SLOW_NANOS / 1e6);
  }

  @Test
  void countsRequestsOnBrokenConnectionsAndGoesOn() throws IOException {
    server.createContext("/broken/", exchange -> exchange.getHttpContext().getServer().stop(0));

    LoadResult result =
        Loader.run(
            new LoadPlan(port(), 1, 1, LoadPlan.ASAP, i -> request("/broken/" + i)), answer -> {});

    assertThat(result.broken()).isEqualTo(1);
  }

  private LoadPlan plan(int connections, int requests, double perSecond) {
    return new LoadPlan(port(), connections, requests, perSecond, i -> request("/" + i));
  }

  private int port() {
    return server.getAddress().getPort();
  }

  private static byte[] request(String path) {
    return ("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }
}
