package io.seckill.gateway.redis;

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
 * Compares the settings of Redis with what a sale relies on. What lets Redis forget orders is a
 * danger: no sale should begin. "Queued" promises that an order survives a power failure, so each
 * write must be on disk before Redis answers. What only costs memory is reported. Either is a
 * metric, and a log line when it changes. A sale under way goes on: ending it would help nobody.
 *
 * <p>A server that does not tell its settings passes; of a cluster, one node is asked.
 */
@Component
public final class ServerSettings {

  private static final Logger log = LoggerFactory.getLogger(ServerSettings.class);

  /**
   * The longest order record; a hash with a longer value is no longer packed, at ten times the
   * size.
   */
  private static final int MIN_LISTPACK_VALUE = 128;

  private final UnifiedJedis redis;
  private volatile Findings latest = new Findings(List.of(), List.of());

  /**
   * What is wrong, a sentence each.
   *
   * @param dangers Redis may forget orders
   * @param costs Redis needs more memory than it should
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

  /** By what Redis may forget orders, as of the last {@link #check}; empty when all is well. */
  public List<String> dangers() {
    return latest.dangers();
  }

  /**
   * Asks Redis.
   *
   * @return by what Redis may forget orders, a sentence each; empty when all is well
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  public List<String> check() {
    Findings before = latest;
    latest = look();
    if (!latest.equals(before)) {
      latest.dangers().forEach(danger -> log.error("redis may forget orders: {}", danger));
      latest.costs().forEach(cost -> log.warn("redis wastes memory: {}", cost));
      if (latest.dangers().isEmpty() && latest.costs().isEmpty()) {
        log.info("the settings of redis are right again");
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
      log.debug("redis does not tell its settings: {}", e.getMessage());
    }
    return new Findings(List.copyOf(dangers), List.copyOf(costs));
  }

  private @Nullable String setting(String name) {
    return redis.configGet(name).get(name);
  }
}
