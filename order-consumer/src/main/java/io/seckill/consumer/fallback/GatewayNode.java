package io.seckill.consumer.fallback;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.time.Duration;

/**
 * A gateway as its last heartbeat described it.
 *
 * @param term since which it has promised nothing
 * @param transferred the last term for which it has transferred everything
 * @param complete whether it had forgotten no orders then but of the sales that it named
 * @param forMs for how long that was so at its heartbeat
 * @param failurePercent of its calls of Redis within a second
 * @param heardMsAgo by MySQL's clock
 */
record GatewayNode(
    String name,
    @JsonProperty("fallback") FallbackMode mode,
    @JsonIgnore long term,
    @JsonIgnore long transferred,
    @JsonIgnore boolean complete,
    RedisView redis,
    long forMs,
    BreakerState breaker,
    int failurePercent,
    int failuresPerSecond,
    long heardMsAgo) {

  /** Its report of Redis is used for so long. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  @JsonIgnore
  boolean isFresh() {
    return heardMsAgo <= FRESH.toMillis();
  }

  boolean hasFound(RedisView view, Duration atLeast) {
    return redis == view && forMs >= atLeast.toMillis();
  }

  boolean hasTransferred(long wanted) {
    return transferred == wanted;
  }
}
