package io.seckill.consumer.intake;

import io.seckill.common.order.OrderId;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * Counts how often an order was refused. Broker versions count deliveries differently (facts.md
 * 23), and lose the count when a consumer disconnects. Keeps the last {@value #MAX_ORDERS} orders;
 * an evicted one starts at 0 again, which gives it a few more attempts. Thread-safe.
 */
@Component
class FailedAttempts {

  private static final int MAX_ORDERS = 10_000;

  private final Map<OrderId, Attempts> failed =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<OrderId, Attempts> eldest) {
          return size() > MAX_ORDERS;
        }
      };
  private final Clock clock;

  FailedAttempts(Clock clock) {
    this.clock = clock;
  }

  /**
   * @param count failed attempts since the order was first received or replayed, from 1
   * @param firstAt Unix ms
   * @param lastAt Unix ms
   */
  record Attempts(int count, long firstAt, long lastAt) {}

  /** Counts one more failed attempt. */
  synchronized Attempts add(OrderId order) {
    long now = clock.millis();
    return failed.merge(
        order,
        new Attempts(1, now, now),
        (before, one) -> new Attempts(before.count() + 1, before.firstAt(), now));
  }

  /** Forgets an order that is decided or a dead letter. */
  synchronized void forget(OrderId order) {
    if (!failed.isEmpty()) {
      failed.remove(order);
    }
  }
}
