package io.seckill.consumer.loading;

import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.common.redis.RedisNode;
import io.seckill.common.redis.RedisNodes;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Keeps sales from beginning on a Redis that may lose their orders. */
@Component
public record RedisSafety(RedisNodes nodes, PreheatProperties settings) {

  private static final Logger log = LoggerFactory.getLogger(RedisSafety.class);

  /**
   * Checks before a sale begins that every Redis server retains its data. A server that does not
   * answer is logged: its settings are unknown.
   *
   * @throws ProblemException 409 UNSAFE_REDIS, unless the settings allow it
   */
  public void refuseUnsafe() {
    refuseUnsafe(nodes.query(0));
  }

  void refuseUnsafe(List<RedisNode> all) {
    all.stream()
        .filter(node -> !node.isAvailable())
        .forEach(node -> log.warn("redis {} does not answer, a sale begins", node.address()));
    List<String> dangers = all.stream().flatMap(node -> node.dangers().stream()).toList();
    if (!dangers.isEmpty() && settings.allowUnsafeRedis() != AllowUnsafeRedis.TRUE) {
      throw ProblemException.of(
          ProblemCode.UNSAFE_REDIS, "Redis may forget orders: " + String.join("; ", dangers) + ".");
    }
  }
}
