package io.seckill.gateway.backends;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.common.redis.RedisNode;
import io.seckill.common.redis.RedisNodes;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Watches every Redis server: whether its append-only file is written, and in time, how much of its
 * memory is used, how many replicas follow, and whether the settings are right. One thread queries
 * the servers every few seconds, reports metrics, and logs the changes. While no server answers,
 * the last values stay, and other metrics show the failure.
 *
 * <p>With a setting that is a danger, order-consumer begins no sale. A running sale continues on
 * the server that it runs on: ending it would help nobody. On a server that takes over it continues
 * unless unsafe servers are never allowed.
 */
@Component
public final class RedisNodeWatch implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(RedisNodeWatch.class);
  private static final Duration EVERY = Duration.ofSeconds(5);

  private final IntFunction<List<RedisNode>> query;
  private final int replicas;
  private final AllowUnsafeRedis allowUnsafe;
  private final MultiGauge misconfigured;
  private final MultiGauge writeFailed;
  private final MultiGauge slowWrites;
  private final MultiGauge usedMemory;
  private final MultiGauge maxMemory;
  private final MultiGauge available;
  private final RepeatingTask looking;
  private volatile List<RedisNode> latest = List.of();
  private Set<String> reported = Set.of();

  @Autowired
  RedisNodeWatch(RedisNodes nodes, Environment settings, MeterRegistry meters) {
    this(
        nodes::query,
        setting(settings, "seckill.admission.replicas", Integer.class, 0),
        setting(
            settings,
            "seckill.preheat.allow-unsafe-redis",
            AllowUnsafeRedis.class,
            AllowUnsafeRedis.FALSE),
        meters);
  }

  /** Takes an empty value for none, and names the setting that has a wrong one. */
  private static <T> T setting(Environment settings, String name, Class<T> type, T none) {
    BindResult<T> value = Binder.get(settings).bind(name, type);
    return value.isBound() ? value.get() : none;
  }

  /** {@code query}: see {@link RedisNodes#query}. */
  RedisNodeWatch(
      IntFunction<List<RedisNode>> query,
      int replicas,
      AllowUnsafeRedis allowUnsafe,
      MeterRegistry meters) {
    this.query = query;
    this.replicas = replicas;
    this.allowUnsafe = allowUnsafe;
    this.misconfigured =
        MultiGauge.builder("seckill.redis.misconfigured")
            .description("Settings that are wrong: orders are in danger, or memory is wasted")
            .register(meters);
    this.writeFailed =
        MultiGauge.builder("seckill.redis.aof.failed")
            .description("1 while the server cannot write its append-only file, or has none")
            .register(meters);
    this.slowWrites =
        MultiGauge.builder("seckill.redis.aof.slow.write")
            .description("Longest slow write of the append-only file within a minute")
            .baseUnit("seconds")
            .register(meters);
    this.usedMemory =
        MultiGauge.builder("seckill.redis.memory.used")
            .description("Memory that counts against maxmemory")
            .baseUnit("bytes")
            .register(meters);
    this.maxMemory =
        MultiGauge.builder("seckill.redis.memory.max")
            .description("maxmemory; 0 for no limit")
            .baseUnit("bytes")
            .register(meters);
    this.available =
        MultiGauge.builder("seckill.redis.node.up")
            .description("1 when the server answered the last query of its settings")
            .register(meters);
    Gauge.builder("seckill.redis.replicas", () -> replicas(latest))
        .description("Replicas that follow the primary, of a cluster the primary with the fewest")
        .register(meters);
    Gauge.builder("seckill.redis.replicas.missing", () -> replicasMissing(latest, replicas))
        .description("Servers that Sentinel or the cluster lists and that follow no primary")
        .register(meters);
    this.looking = new RepeatingTask("redis-node-watch", EVERY, this::tryLook);
  }

  /** Settings with which Redis may lose orders, as of the last look, with the server's address. */
  public List<String> dangers() {
    return latest.stream().flatMap(node -> node.dangers().stream()).toList();
  }

  /** Whether a primary, as of the last look, would be refused by {@link #admits} if it were new. */
  public boolean refuses() {
    return allowUnsafe == AllowUnsafeRedis.NEVER
        && latest.stream().anyMatch(RedisNodeWatch::isUnsafePrimary);
  }

  static boolean isUnsafePrimary(RedisNode node) {
    return node.isPrimary() && !node.settings().dangers().isEmpty();
  }

  /**
   * Whether a server that this gateway has not sold from may be sold from. If unsafe servers are
   * never allowed, its settings are read first, which may last as long as the servers do not
   * answer.
   */
  public boolean admits(String replicationId) {
    if (allowUnsafe != AllowUnsafeRedis.NEVER) {
      return true;
    }
    if (latest.stream().noneMatch(isPrimaryOf(replicationId))) {
      tryLook();
    }
    return latest.stream()
        .filter(isPrimaryOf(replicationId))
        .anyMatch(node -> !isUnsafePrimary(node));
  }

  private static Predicate<RedisNode> isPrimaryOf(String replicationId) {
    return node -> node.isPrimary() && replicationId.equals(node.replicationId());
  }

  synchronized void tryLook() {
    try {
      latest = query.apply(replicas);
      report();
      measure();
    } catch (JedisException e) {
      Set<String> failure = Set.of("the settings of redis are unknown: " + e);
      if (!failure.equals(reported)) {
        failure.forEach(log::warn);
      }
      reported = failure;
    }
  }

  private void report() {
    Set<String> problems = new HashSet<>();
    report(problems, RedisNode::dangers, danger -> log.error("redis may lose orders: {}", danger));
    report(problems, RedisNode::costs, cost -> log.warn("redis wastes memory: {}", cost));
    report(
        problems,
        node -> node.isAvailable() ? List.of() : List.of(node.address()),
        address -> log.warn("redis {} does not answer, its settings are unknown", address));
    if (problems.isEmpty() && !reported.isEmpty()) {
      log.info("every redis server answers, and its settings are correct");
    }
    reported = problems;
  }

  private void report(
      Set<String> problems, Function<RedisNode, List<String>> find, Consumer<String> toLog) {
    latest.stream()
        .flatMap(node -> find.apply(node).stream())
        .filter(problem -> problems.add(problem) && !reported.contains(problem))
        .forEach(toLog);
  }

  private void measure() {
    List<RedisNode> known = latest.stream().filter(RedisNode::isAvailable).toList();
    available.register(rows(latest, Tags.empty(), node -> node.isAvailable() ? 1 : 0));
    writeFailed.register(rows(known, Tags.empty(), RedisNodeWatch::writeFailed));
    slowWrites.register(rows(known, Tags.empty(), RedisNode::slowWriteSeconds));
    usedMemory.register(rows(known, Tags.empty(), RedisNodeWatch::usedMemory));
    maxMemory.register(rows(known, Tags.empty(), node -> node.number("maxmemory")));
    List<Row<?>> settings = new ArrayList<>();
    for (RedisNode node : known) {
      Tags role = Tags.of("role", node.isPrimary() ? "primary" : "replica");
      List<RedisNode> one = List.of(node);
      settings.addAll(rows(one, role.and("kind", "danger"), each -> each.dangers().size()));
      settings.addAll(rows(one, role.and("kind", "cost"), each -> each.costs().size()));
    }
    misconfigured.register(settings);
  }

  /** Their values are those of the latest look; a server that is gone has no row. */
  private List<Row<?>> rows(List<RedisNode> nodes, Tags tags, ToDoubleFunction<RedisNode> value) {
    return nodes.stream()
        .<Row<?>>map(
            node ->
                Row.of(
                    tags.and("node", node.address()),
                    () -> latest(node.address()).mapToDouble(value).findAny().orElse(0)))
        .toList();
  }

  private Stream<RedisNode> latest(String address) {
    return latest.stream().filter(node -> node.address().equals(address));
  }

  static int writeFailed(RedisNode node) {
    boolean writes = "1".equals(node.info().get("aof_enabled"));
    return writes && "ok".equals(node.info().get("aof_last_write_status")) ? 0 : 1;
  }

  /** Redis does not count its buffers for replicas and the append-only file. */
  static double usedMemory(RedisNode node) {
    return node.number("used_memory") - node.number("mem_not_counted_for_evict");
  }

  static double replicas(List<RedisNode> servers) {
    return primaries(servers).mapToLong(RedisNode::replicasOnline).min().orElse(0);
  }

  /** A dead server stays listed, so this returns to 0 only when it is back or removed. */
  static double replicasMissing(List<RedisNode> servers, int wanted) {
    long following = primaries(servers).mapToLong(RedisNode::replicasOnline).sum();
    double listed = (double) (servers.size() - primaries(servers).count() - following);
    return Math.max(0, Math.max(listed, wanted - replicas(servers)));
  }

  private static Stream<RedisNode> primaries(List<RedisNode> servers) {
    return servers.stream().filter(RedisNode::isPrimary);
  }

  @Override
  public void destroy() {
    looking.close();
  }
}
