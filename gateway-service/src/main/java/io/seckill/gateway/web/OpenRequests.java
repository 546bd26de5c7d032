package io.seckill.gateway.web;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Counts the requests that {@link DirectHandler}s have taken and not answered yet. The web server
 * does not know them, and its graceful stop would close their connections; so this stops first, and
 * waits for their answers. Meanwhile new requests are left to the web server. From the stop on,
 * connections whose request body stalls are closed: neither stop waits for a body.
 */
@Component
final class OpenRequests implements SmartLifecycle {

  private final AtomicInteger count = new AtomicInteger();
  private final Set<DirectHandler> connections = ConcurrentHashMap.newKeySet();
  private volatile CompletableFuture<Void> answered = new CompletableFuture<>();
  private volatile boolean running;

  /**
   * Counts a request. Returns false before the start and after the stop: the request must not be
   * taken.
   */
  boolean begin() {
    count.incrementAndGet(); // before the check, so that a stop does not miss it
    if (running) {
      return true;
    }
    end();
    return false;
  }

  /** Reports that a request is answered, or that its connection is closed. */
  void end() {
    if (count.decrementAndGet() == 0 && !running) {
      answered.complete(null);
    }
  }

  int count() {
    return count.get();
  }

  void connected(DirectHandler connection) {
    connections.add(connection);
    if (!running) {
      connection.endStalledBodies();
    }
  }

  void disconnected(DirectHandler connection) {
    connections.remove(connection);
  }

  @Override
  public void start() {
    answered = new CompletableFuture<>();
    running = true;
  }

  /** Calls back when every counted request has ended; Spring bounds the wait. */
  @Override
  public void stop(Runnable callback) {
    running = false;
    connections.forEach(DirectHandler::endStalledBodies);
    var unused = answered.thenRun(callback);
    if (count.get() == 0) {
      answered.complete(null);
    }
  }

  @Override
  public void stop() {
    stop(() -> {});
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** Later phases stop earlier. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE + 1;
  }
}
