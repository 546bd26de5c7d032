package io.seckill.gateway.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreaker.Health;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.Promises.SentHeartbeat;
import io.seckill.support.contract.Heartbeat;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.HeartbeatAnswer;
import io.seckill.support.contract.Heartbeat.RedisView;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;

/**
 * Reports this gateway's view of Redis to order-consumer twice a second, and learns when a fallback
 * begins and when breakers open.
 */
final class Heartbeats implements AutoCloseable {

  static final Duration PAUSE = Duration.ofMillis(500);

  private final String name;
  private final FallbackMode mode;
  private final ConsumerClient consumer;
  private final RedisBreaker breaker;
  private final ProductCache products;
  private final Promises promises;
  private final RepeatingTask beating;

  /** The name is shown to operators. */
  Heartbeats(
      String name,
      FallbackMode mode,
      ConsumerClient consumer,
      RedisBreaker breaker,
      ProductCache products,
      Promises promises) {
    this.name = shown(name);
    this.mode = mode;
    this.consumer = consumer;
    this.breaker = breaker;
    this.products = products;
    this.promises = promises;
    this.beating = new RepeatingTask("heartbeat", PAUSE, this::beat);
  }

  /** The end of it: there the names of pods differ, and the port is. */
  static String shown(String name) {
    return name.substring(Math.max(0, name.length() - Heartbeat.MAX_NAME));
  }

  private synchronized void beat() {
    promises.begins(products.term());
    SentHeartbeat sent =
        new SentHeartbeat(
            System.nanoTime(), System.currentTimeMillis(), promises.term(), promises.transferred());
    HeartbeatAnswer answer = consumer.heartbeat(body());
    learn(answer);
    promises.heard(sent, answer.transferred());
  }

  private Heartbeat body() {
    Health health = breaker.health();
    return new Heartbeat(
        name,
        mode,
        promises.term(),
        health.usable() ? RedisView.USABLE : RedisView.UNUSABLE,
        health.since().toMillis(),
        BreakerState.valueOf(health.state()),
        health.failurePercent(),
        health.failuresPerSecond());
  }

  private void learn(HeartbeatAnswer answer) {
    if (answer.term() > promises.term()) {
      promises.begins(answer.term());
      products.readSoon();
    }
    breaker.thresholds(answer.failurePercent(), answer.failuresPerSecond());
  }

  /** Waits for the one under way, which could otherwise register this gateway after its end. */
  @Override
  public synchronized void close() {
    beating.close();
  }
}
