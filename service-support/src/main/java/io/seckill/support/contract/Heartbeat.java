package io.seckill.support.contract;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.FallbackMode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.SingleLine;
import org.jspecify.annotations.Nullable;

/**
 * The report of a gateway on itself.
 *
 * @param name shown to operators, at most {@link #MAX_NAME} characters
 * @param term since which it has promised nothing
 * @param forMs for how long that has been its view
 * @param failurePercent of its calls of Redis within a second
 * @param failuresPerSecond these calls
 */
public record Heartbeat(
    String name,
    FallbackMode fallback,
    long term,
    RedisView redis,
    long forMs,
    BreakerState breaker,
    int failurePercent,
    int failuresPerSecond) {

  public static final int MAX_NAME = 64;

  public Heartbeat {
    name = SingleLine.checked("name", name, MAX_NAME);
    require("fallback", fallback);
    RequestChecks.integer("term", term, 0, OrderMessage.MAX_COUNT);
    require("redis", redis);
    RequestChecks.integer("forMs", forMs, 0, Long.MAX_VALUE / 2);
    require("breaker", breaker);
    RequestChecks.integer("failurePercent", failurePercent, 0, 100);
    RequestChecks.integer("failuresPerSecond", failuresPerSecond, 0, Integer.MAX_VALUE);
  }

  private static void require(String field, @Nullable Object value) {
    if (value == null) {
      throw ProblemException.invalid(field, field + " is missing.");
    }
  }

  /** How a gateway finds Redis. */
  public enum RedisView {
    USABLE,
    UNUSABLE
  }

  /** The states of a gateway's breaker of Redis. */
  public enum BreakerState {
    CLOSED,
    OPEN,
    HALF_OPEN
  }

  /**
   * The answer: the number of the last fallback, and when breakers open.
   *
   * @param failurePercent of a gateway's calls of Redis
   * @param failuresPerSecond that are needed besides
   * @param transferred the last term for which MySQL has this gateway's transfer; null from a
   *     former order-consumer
   */
  public record HeartbeatAnswer(
      long term, int failurePercent, int failuresPerSecond, @Nullable Long transferred) {}
}
