package io.seckill.consumer.runtime;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;

/**
 * Answers on the service's port until the service does: alive, not ready because of the database,
 * and 503 to all other requests. Without it an orchestrator would restart a process that waits,
 * after pauses that grow to minutes, and the intake would open that much after MySQL's return. It
 * reads nothing but the path, so it needs no token.
 */
record StartupHealthServer(HttpServer server, ExecutorService threads) implements AutoCloseable {

  /** A caller whose request does not end keeps one, see {@link #REQUEST_SECONDS}. */
  private static final int THREADS = 16;

  /** Most seconds from the beginning of a request to its end; then its connection is closed. */
  private static final String REQUEST_SECONDS = "5";

  private static final String HEALTH = "/actuator/health";

  /** Throws UncheckedIOException when the port is in use. */
  static StartupHealthServer open(ServerProperties properties) {
    int port = properties.getPort() == null ? 8080 : properties.getPort();
    InetAddress address = properties.getAddress();
    System.setProperty("sun.net.httpserver.maxReqTime", REQUEST_SECONDS); // is read once
    try {
      HttpServer server =
          HttpServer.create(
              address == null ? new InetSocketAddress(port) : new InetSocketAddress(address, port),
              0);
      ExecutorService threads =
          Executors.newFixedThreadPool(THREADS, work -> new Thread(work, "waiting-room"));
      server.setExecutor(threads);
      server.createContext("/", StartupHealthServer::answer);
      server.start();
      return new StartupHealthServer(server, threads);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot listen on port " + port, e);
    }
  }

  private static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      switch (exchange.getRequestURI().getRawPath()) {
        case HEALTH + "/liveness" -> send(exchange, 200, "application/json", "{\"status\":\"UP\"}");
        case HEALTH, HEALTH + "/readiness" ->
            send(
                exchange,
                503,
                "application/json",
                "{\"status\":\"DOWN\",\"components\":{\"database\":{\"status\":\"DOWN\"}}}");
        default ->
            send(
                exchange,
                503,
                "application/problem+json",
                "{\"title\":\"Service"
                    + " Unavailable\",\"status\":503,\"code\":\"UNAVAILABLE\",\"detail\":\"The"
                    + " database is unavailable; the same request may be repeated.\"}");
      }
    }
  }

  private static void send(HttpExchange exchange, int status, String type, String body)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.getResponseHeaders().set("Connection", "close");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  /** The port it listens on, for a log line. */
  @Override
  public String toString() {
    return "port " + server.getAddress().getPort();
  }
}
