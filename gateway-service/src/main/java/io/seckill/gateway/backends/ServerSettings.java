package io.seckill.gateway.backends;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.redis.RedisServerSettings;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reports settings of Redis that are not what a sale relies on, as metrics, and in the log when
 * they change. With one that is a danger, order-consumer begins no sale; a running sale continues:
 * ending it would help nobody.
 */
@Component
public final class ServerSettings {

  private static final Logger log = LoggerFactory.getLogger(ServerSettings.class);

  private final UnifiedJedis redis;
  private final int replicas;
  private volatile RedisServerSettings latest = new RedisServerSettings(List.of(), List.of());

  ServerSettings(
      UnifiedJedis redis,
      @Value("${seckill.admission.replicas:0}") int replicas,
      MeterRegistry meters) {
    this.redis = redis;
    this.replicas = replicas;
    gauge(meters, "danger", () -> latest.dangers().size());
    gauge(meters, "cost", () -> latest.costs().size());
  }

  private static void gauge(MeterRegistry meters, String kind, Supplier<Number> number) {
    Gauge.builder("seckill.redis.misconfigured", number)
        .description("Settings of Redis that are wrong: orders are in danger, or memory is wasted")
        .tag("kind", kind)
        .register(meters);
  }

  /**
   * Settings with which Redis may lose orders, as of the last {@link #check}; empty when there are
   * none.
   */
  public List<String> dangers() {
    return latest.dangers();
  }

  /**
   * Queries the settings of Redis.
   *
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  void check() {
    RedisServerSettings before = latest;
    latest = RedisServerSettings.of(redis, replicas);
    if (!latest.equals(before)) {
      latest.dangers().forEach(danger -> log.error("redis may lose orders: {}", danger));
      latest.costs().forEach(cost -> log.warn("redis wastes memory: {}", cost));
      if (latest.dangers().isEmpty() && latest.costs().isEmpty()) {
        log.info("the settings of redis are correct again");
      }
    }
  }
}
