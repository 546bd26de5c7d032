package io.seckill.gateway.fallback;

import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Ends this gateway's registration at order-consumer when it stops: after the web servers, so that
 * no purchase arrives any more, and before the event loops, which the calls need.
 */
final class Deregistration implements SmartLifecycle {

  private final Heartbeats heartbeats;
  private final PromiseSender sender;
  private volatile boolean running;

  Deregistration(Heartbeats heartbeats, PromiseSender sender) {
    this.heartbeats = heartbeats;
    this.sender = sender;
  }

  @Override
  public void start() {
    running = true;
  }

  /** A heartbeat after the transfer would register the gateway again. */
  @Override
  public void stop() {
    running = false;
    heartbeats.close();
    sender.close();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** Earlier phases stop later; the products are read until here. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 3;
  }
}
