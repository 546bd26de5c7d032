package io.seckill.consumer.fallback;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.seckill.common.sale.FallbackMode;
import java.time.Duration;

/**
 * A gateway as its last heartbeat described it.
 *
 * @param term since which it has promised nothing
 * @param handedOver the last term for which it has transferred everything
 * @param complete whether it had not forgotten an order then
 * @param redis USABLE or UNUSABLE
 * @param forMs for how long that was so at its heartbeat
 * @param breaker CLOSED, OPEN or HALF_OPEN
 * @param failurePercent of its calls of Redis within a second
 * @param heardMsAgo by MySQL's clock
 */
record GatewayNode(
    String name,
    @JsonIgnore FallbackMode mode,
    @JsonIgnore long term,
    @JsonIgnore long handedOver,
    @JsonIgnore boolean complete,
    String redis,
    long forMs,
    String breaker,
    int failurePercent,
    int failuresPerSecond,
    long heardMsAgo) {

  /** Its report of Redis is used for so long. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  @JsonProperty("fallback")
  String fallback() {
    return Modes.text(mode);
  }

  @JsonIgnore
  boolean isFresh() {
    return heardMsAgo <= FRESH.toMillis();
  }

  boolean hasFound(RedisLook look, Duration atLeast) {
    return redis.equals(look.name()) && forMs >= atLeast.toMillis();
  }

  boolean hasHandedOver(long wanted) {
    return handedOver == wanted;
  }

  /** How a gateway finds Redis. */
  enum RedisLook {
    USABLE,
    UNUSABLE
  }
}
