package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.consumer.fallback.GatewayNode.RedisLook;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.SingleLine;
import java.util.EnumSet;
import java.util.Set;

/** The report of a gateway on itself; see {@link GatewayNode}. */
record Heartbeat(
    String name,
    String fallback,
    Long term,
    String redis,
    Long forMs,
    String breaker,
    Long failurePercent,
    Long failuresPerSecond) {

  private static final int MAX_NAME = 64;
  private static final Set<RedisLook> LOOKS = EnumSet.allOf(RedisLook.class);
  private static final Set<Breaker> BREAKERS = EnumSet.allOf(Breaker.class);

  Heartbeat {
    name = SingleLine.checked("name", name, MAX_NAME);
    Modes.parse(fallback);
    RequestChecks.integer("term", term, 0, Long.MAX_VALUE / 2);
    RequestChecks.oneOf("redis", redis, LOOKS);
    RequestChecks.integer("forMs", forMs, 0, Long.MAX_VALUE / 2);
    RequestChecks.oneOf("breaker", breaker, BREAKERS);
    RequestChecks.integer("failurePercent", failurePercent, 0, 100);
    RequestChecks.integer("failuresPerSecond", failuresPerSecond, 0, Integer.MAX_VALUE);
  }

  FallbackMode mode() {
    return Modes.parse(fallback);
  }

  boolean isRedisUsable() {
    return redis.equals(RedisLook.USABLE.name());
  }

  /** The states of a gateway's breaker of Redis. */
  private enum Breaker {
    CLOSED,
    OPEN,
    HALF_OPEN
  }
}
