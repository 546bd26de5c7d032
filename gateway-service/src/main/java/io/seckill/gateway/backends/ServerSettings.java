package io.seckill.gateway.backends;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Compares the settings of Redis with those a sale relies on. A setting with which Redis may lose
 * orders is a danger: no sale should begin. The answer "queued" promises that an order survives a
 * power failure, so each write must be on disk before Redis replies. A setting that only costs
 * memory is reported. Both kinds are exported as metrics, and logged when they change. A running
 * sale continues: ending it would help nobody.
 *
 * <p>A server that does not report its settings passes; of a cluster, one node is queried.
 */
@Component
public final class ServerSettings {

  private static final Logger log = LoggerFactory.getLogger(ServerSettings.class);

  /**
   * Length of the longest order record, in bytes. Redis does not pack a hash with a value above its
   * limit; the hash is then ten times as large.
   */
  private static final int MIN_LISTPACK_VALUE = 128;

  private final UnifiedJedis redis;
  private volatile Findings latest = new Findings(List.of(), List.of());

  /**
   * Wrong settings, one sentence each.
   *
   * @param dangers settings with which Redis may lose orders
   * @param costs settings with which Redis needs more memory than it should
   */
  private record Findings(List<String> dangers, List<String> costs) {}

  ServerSettings(UnifiedJedis redis, MeterRegistry meters) {
    this.redis = redis;
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
   * @return settings with which Redis may lose orders, one sentence each; empty when there are none
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  public List<String> check() {
    Findings before = latest;
    latest = look();
    if (!latest.equals(before)) {
      latest.dangers().forEach(danger -> log.error("redis may lose orders: {}", danger));
      latest.costs().forEach(cost -> log.warn("redis wastes memory: {}", cost));
      if (latest.dangers().isEmpty() && latest.costs().isEmpty()) {
        log.info("the settings of redis are correct again");
      }
    }
    return latest.dangers();
  }

  private Findings look() {
    List<String> dangers = new ArrayList<>();
    List<String> costs = new ArrayList<>();
    try {
      String policy = setting("maxmemory-policy");
      if (policy != null && !policy.equals("noeviction")) {
        dangers.add("maxmemory-policy is " + policy + ", it must be noeviction");
      }
      String appends = setting("appendonly");
      String syncs = setting("appendfsync");
      if ("no".equals(appends)) {
        dangers.add("appendonly is no, it must be yes");
      } else if (syncs != null && !syncs.equals("always")) {
        dangers.add("appendfsync is " + syncs + ", it must be always");
      }
      String packed = setting("hash-max-listpack-value");
      if (packed != null && Long.parseLong(packed) < MIN_LISTPACK_VALUE) {
        costs.add("hash-max-listpack-value is " + packed + ", orders need " + MIN_LISTPACK_VALUE);
      }
    } catch (JedisDataException e) {
      log.debug("redis does not report its settings: {}", e.getMessage());
    }
    return new Findings(List.copyOf(dangers), List.copyOf(costs));
  }

  private @Nullable String setting(String name) {
    return redis.configGet(name).get(name);
  }
}
