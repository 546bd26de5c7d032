package io.seckill.gateway.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.seckill.testing.Bounded;
import io.seckill.testing.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Replaces order-consumer, to do what the real one does not: the test decides when and what it
 * answers. Heartbeats and transfers are recorded, and answered at once: 503, or as the test says.
 */
public final class SlowConsumer implements AutoCloseable {

  private final HttpServer server;
  private final BlockingQueue<HttpExchange> waiting = new ArrayBlockingQueue<>(100);
  private final CountDownLatch asked = new CountDownLatch(1);
  private final List<String> heartbeats = new CopyOnWriteArrayList<>();
  private volatile String heartbeatAnswer = "";

  private SlowConsumer(HttpServer server) {
    this.server = server;
  }

  public static SlowConsumer start() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    SlowConsumer consumer = new SlowConsumer(server);
    server.createContext(
        "/",
        exchange -> {
          consumer.waiting.add(exchange);
          consumer.asked.countDown();
        });
    server.createContext(
        "/internal/v1/gateways/",
        exchange -> {
          Asked heartbeat = new Asked(exchange);
          consumer.heartbeats.add(heartbeat.text());
          String answer = consumer.heartbeatAnswer;
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          heartbeat.answer(answer.isEmpty() ? 503 : 200, answer);
        });
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
    return consumer;
  }

  /** Those of all gateways since the last {@link #answerHeartbeats}. */
  public List<String> heartbeats() {
    return List.copyOf(heartbeats);
  }

  /** Answers the following heartbeats with this JSON. */
  public void answerHeartbeats(String json) {
    heartbeatAnswer = json;
    heartbeats.clear();
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Waits until a first request has arrived. */
  public void awaitRequest() {
    Bounded.await(asked);
  }

  /** Answers the oldest unanswered request, or the next one. */
  public void answer(int status, String body) throws IOException, InterruptedException {
    next().answer(status, body);
  }

  /** Takes the oldest request that was not taken, or the next one. */
  public Asked next() throws InterruptedException {
    HttpExchange exchange = waiting.poll(Eventually.SOON.toMillis(), TimeUnit.MILLISECONDS);
    if (exchange == null) {
      throw new AssertionError("nobody asked");
    }
    return new Asked(exchange);
  }

  /** Requests that were not taken. */
  public int waiting() {
    return waiting.size();
  }

  /** A request that waits for its answer. */
  public record Asked(HttpExchange exchange) {

    /** Method, path and body. */
    public String text() throws IOException {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      return exchange.getRequestMethod() + ' ' + exchange.getRequestURI() + ' ' + body;
    }

    public void answer(int status, String body) throws IOException {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    }

    /** Closes the connection without an answer. */
    public void hangUp() {
      exchange.close();
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
