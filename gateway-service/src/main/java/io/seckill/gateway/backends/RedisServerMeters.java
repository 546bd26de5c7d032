package io.seckill.gateway.backends;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Metrics on the durability of Redis: whether the append-only file is written and its fsync keeps
 * up, how many replicas follow, and whether the settings are right. One thread queries Redis every
 * few seconds; of a cluster, one node. While Redis does not answer, the metrics keep their last
 * values, and other metrics show the failure.
 */
@Component
final class RedisServerMeters implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(RedisServerMeters.class);
  private static final Duration EVERY = Duration.ofSeconds(5);

  private final UnifiedJedis redis;
  private final ServerSettings settings;
  private final RepeatingTask looking;
  private volatile double writeFailed;
  private volatile double delayedFsyncs;
  private volatile double replicas;

  RedisServerMeters(UnifiedJedis redis, ServerSettings settings, MeterRegistry meters) {
    this.redis = redis;
    this.settings = settings;
    Gauge.builder("seckill.redis.aof.failed", () -> writeFailed)
        .description("1 while Redis cannot write its append-only file, or has none")
        .register(meters);
    Gauge.builder("seckill.redis.aof.delayed.fsyncs", () -> delayedFsyncs)
        .description("Times a write of Redis waited for an fsync, since Redis started")
        .register(meters);
    Gauge.builder("seckill.redis.replicas", () -> replicas)
        .description("Replicas that follow Redis")
        .register(meters);
    this.looking = new RepeatingTask("redis-server-meters", EVERY, this::look);
  }

  private void look() {
    try {
      Map<String, String> info = fields(redis.info("persistence"));
      info.putAll(fields(redis.info("replication")));
      boolean writes = "1".equals(info.get("aof_enabled"));
      writeFailed = writes && "ok".equals(info.get("aof_last_write_status")) ? 0 : 1;
      delayedFsyncs = number(info.get("aof_delayed_fsync"));
      replicas = number(info.get("connected_slaves"));
      settings.check();
    } catch (JedisException e) {
      log.debug("redis cannot be queried for its state", e);
    }
  }

  private static double number(@Nullable String text) {
    return text == null ? 0 : Double.parseDouble(text);
  }

  private static Map<String, String> fields(String info) {
    Map<String, String> fields = new HashMap<>();
    info.lines()
        .map(line -> line.split(":", 2))
        .filter(parts -> parts.length == 2)
        .forEach(parts -> fields.put(parts[0], parts[1]));
    return fields;
  }

  @Override
  public void destroy() {
    looking.close();
  }
}
