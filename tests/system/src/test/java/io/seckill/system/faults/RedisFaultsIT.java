package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.ServiceMetrics;
import io.seckill.testing.LoopDisk;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** Faults of Redis itself and of its data. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class RedisFaultsIT {

  private static final String UNAVAILABLE = "ADMISSION_UNAVAILABLE";
  private static final int FLUSHES = 20;
  private static final int DISK_MB = 256;

  private static final String PURCHASES = "seckill_purchases_total";
  private static final String LATENCY = "seckill_admission_latency_seconds";
  private static final String STRONG_DECIDED = "seckill_strong_latency_seconds_count";

  /** Bound on the time from Redis's return. */
  private static final Duration ADMITS_AGAIN = Duration.ofSeconds(2);

  /** Delay in each direction; in sum above the slow-call threshold of 150 ms. */
  private static final Duration SLOW = Duration.ofMillis(80);

  private final FaultLab lab;

  RedisFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Tag("proof")
  @Test
  @DisplayName("3: script cache gone under load")
  void forgetsItsScripts() {
    double refused = errorReplies();
    String before = lab.redis().info("all");
    try (FaultRun run = lab.run("3 script cache gone under load").begin(0)) {
      for (int flush = 1; flush <= FLUSHES; flush++) {
        run.load().awaitAccepted(75 * flush);
        redis(Command.SCRIPT, "FLUSH", "SYNC");
      }
      run.fault("SCRIPT FLUSH, " + FLUSHES + " times");
      run.judge();
      String after = lab.redis().info("all");
      long missing = missedScripts(after) - missedScripts(before);
      assertThat(missing).as("scripts missing in Redis").isGreaterThanOrEqualTo(FLUSHES);
      assertThat(failedCalls(after, "evalsha") - failedCalls(before, "evalsha"))
          .as("scripts called by their hash that failed")
          .isEqualTo(missing);
      assertThat(failedCalls(after, "eval"))
          .as("scripts sent in full that failed")
          .isEqualTo(failedCalls(before, "eval"));
      assertThat(errorReplies()).as("calls of gateways that Redis refused").isEqualTo(refused);
    }
  }

  /** Counted by Redis for all clients, as is {@link #failedCalls}. */
  private static long missedScripts(String info) {
    return statistic(info, "errorstat_NOSCRIPT:", "count=");
  }

  private static long failedCalls(String info, String command) {
    return statistic(info, "cmdstat_" + command + ":", "failed_calls=");
  }

  private static long statistic(String info, String line, String name) {
    return info.lines()
        .filter(one -> one.startsWith(line))
        .map(one -> one.substring(one.indexOf(name) + name.length()).replaceFirst(",.*", ""))
        .mapToLong(Long::parseLong)
        .sum();
  }

  private double errorReplies() {
    return sum("seckill_redis_errors_total", "kind=\"reply\"");
  }

  @Tag("proof")
  @Test
  @DisplayName("4: Redis full: purchases are refused, the relays still drain the outboxes")
  void full() {
    try (FaultRun run = lab.run("4 Redis full")) {
      lab.relays().forEach(relay -> relay.links().redis().cut());
      run.begin(600);
      config("maxmemory", "1mb");
      run.load().awaitProblems(UNAVAILABLE, 200);
      assertThat(run.waitingInRedis()).isPositive();
      lab.relays().forEach(relay -> relay.links().redis().heal());
      Signals.await("the full Redis to be drained", () -> run.waitingInRedis() == 0);
      run.fault("maxmemory 1mb; 600 orders drained meanwhile");
      config("maxmemory", "0");
      run.judge();
    } finally {
      config("maxmemory", "0");
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("5: Redis's disk full, with appendfsync everysec and always")
  void diskFull() throws IOException {
    RedisServer redis = lab.servers().redis();
    LoopDisk.missing(redis).ifPresent(Assumptions::abort);
    try (FaultRun run = lab.run("5 Redis's disk full")) {
      try (LoopDisk disk = LoopDisk.under(redis, DISK_MB)) {
        fillDisk(run, disk);
      }
      redis.restart();
      run.judge();
    }
  }

  private void fillDisk(FaultRun run, LoopDisk disk) throws IOException {
    RedisServer redis = lab.servers().redis();
    redis.restart();
    run.begin(200);
    config("appendfsync", "everysec");
    disk.fill();
    run.load().awaitProblems(UNAVAILABLE, 100);
    assertThat(redis.isRunning()).isTrue();
    run.fault("disk full with everysec: writes refused");
    disk.makeRoom();
    run.load().awaitAccepted(run.load().accepted() + 100);
    config("appendfsync", "always");
    disk.fill();
    Signals.await("Redis to give up", () -> !redis.isRunning());
    run.fault("disk full with always: Redis ended");
    disk.makeRoom();
  }

  @Test
  @DisplayName("6: Redis killed under load")
  void killed() {
    outage("6 Redis killed", Fault.of(lab, "Redis", "kill"));
  }

  @Tag("proof")
  @Test
  @DisplayName("6: Redis frozen under load")
  void frozen() {
    outage("6 Redis frozen", Fault.of(lab, "Redis", "freeze"));
  }

  /** Delays the links, so that each call exceeds the gateways' slow-call threshold. */
  @Tag("proof")
  @Test
  @DisplayName("6: Redis slow under load")
  void slow() {
    List<TcpProxy> links = lab.gateways().stream().map(one -> one.links().redis()).toList();
    outage("6 Redis slow", Fault.slow("gateways to Redis", links, SLOW));
  }

  /** Neither gateway is ready then, and one of them does not answer HAProxy's checks. */
  @Tag("proof")
  @Test
  @DisplayName("6: Redis killed and a gateway frozen, behind HAProxy")
  void killedBehindHaProxy() throws Exception {
    SaleOffer strong = lab.plenty().strong();
    lab.open(strong);
    try (HaProxy proxy = HaProxy.before(lab);
        FaultRun run = lab.run("6 Redis killed, behind HAProxy").begin(100)) {
      long sku = run.sale(0).skuId();
      Signals.await("HAProxy to pass requests on", () -> proxy.shop().page(sku).status() == 200);
      run.during(
          Fault.of(lab, "Redis", "kill"),
          () -> {
            Signals.await(
                "both gateways to be not ready",
                () -> lab.gateways().stream().noneMatch(ServiceInstance::isReady));
            lab.gateway(1).freeze();
            Signals.await(
                "HAProxy to leave the frozen gateway out",
                () -> proxy.notFromAGateway(strong, 20).isEmpty());
            assertThat(proxy.notFromAGateway(strong, 40)).isEmpty();
            Signals.await(
                "the other gateway to sell by MySQL", () -> proxy.buy(strong).status() == 201);
            assertThat(proxy.notFromAGateway(run.sale(0), 5)).isEmpty();
            Signals.await("health to be known", () -> proxy.health().text("status").equals("DOWN"));
          });
      lab.gateway(1).thaw();
      run.judge();
    }
  }

  private void outage(String row, Fault fault) {
    try (FaultRun run = lab.run(row).begin(500)) {
      Outage outage = new Outage(run);
      run.during(fault, outage::answered);
      outage.over();
      run.judge();
    }
  }

  /**
   * Checks what gateways do with purchases while Redis is unavailable, by their own clocks and
   * counters.
   */
  private final class Outage {
    private final FaultRun run;
    private final int threads = gatewayThreads();
    private final Map<ServiceInstance, Double> opened = new HashMap<>();
    private final double decided = decided();
    private final double decidedInTime = decidedInTime();

    Outage(FaultRun run) {
      this.run = run;
      lab.gateways().forEach(gateway -> opened.put(gateway, opened(gateway)));
    }

    /** Waits until each gateway has detected the outage and still decides every purchase. */
    void answered() {
      run.load().awaitProblems(UNAVAILABLE, run.load().problems(UNAVAILABLE) + 1_000);
      for (ServiceInstance gateway : lab.gateways()) {
        Signals.await(
            gateway.name() + " to stop calling Redis", () -> opened(gateway) > opened.get(gateway));
        Signals.await(gateway.name() + " to have decided on every purchase", () -> isIdle(gateway));
      }
      assertThat(gatewayThreads()).as("threads of the gateways").isLessThan(threads + 20);
      run.share(
          "of purchases decided within 300 ms while Redis is unavailable",
          100 * (decidedInTime() - decidedInTime) / (decided() - decided),
          99);
    }

    /** Waits until each gateway admits again. */
    void over() {
      long since = System.nanoTime();
      int[] accepted = {run.load().acceptedAt(0), run.load().acceptedAt(1)};
      Signals.await(
          "both gateways to admit again",
          () -> run.load().acceptedAt(0) > accepted[0] && run.load().acceptedAt(1) > accepted[1]);
      run.took("both gateways admit again", since, ADMITS_AGAIN);
    }

    private double opened(ServiceInstance gateway) {
      return gateway.sum("seckill_breaker_transitions_total", "breaker=\"redis\"", "to=\"open\"");
    }

    private static boolean isIdle(ServiceInstance gateway) {
      ServiceMetrics metrics = gateway.metrics(PURCHASES, LATENCY + "_count", STRONG_DECIDED);
      double decided = metrics.sum(LATENCY + "_count") + metrics.sum(STRONG_DECIDED);
      return metrics.sum(PURCHASES) == decided;
    }

    private double decided() {
      return sum(LATENCY + "_count");
    }

    private double decidedInTime() {
      return sum(LATENCY + "_bucket", "le=\"0.3\"");
    }

    private int gatewayThreads() {
      return lab.gateways().stream().mapToInt(ServiceInstance::threads).sum();
    }
  }

  private double sum(String meter, String... labels) {
    return ServiceInstance.sum(lab.gateways(), meter, labels);
  }

  @Tag("proof")
  @Test
  @DisplayName("9: a foreign key in place of the outbox")
  void foreignKey() {
    try (FaultRun run = lab.run("9 a foreign key in place of the outbox").begin(300)) {
      long sku = run.sale(3).skuId();
      String outbox = RedisKeys.outbox(Partition.ofSku(sku));
      eval(
          outbox,
          "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end"
              + " redis.call('SET', KEYS[1], 'foreign')");
      try {
        nothingIsTaken(run, sku);
        run.fault("SET on an outbox: refused before any write");
      } finally {
        eval(
            outbox,
            "redis.call('DEL', KEYS[1]) if redis.call('EXISTS', KEYS[2]) == 1"
                + " then redis.call('RENAME', KEYS[2], KEYS[1]) end");
      }
      run.judge();
    }
  }

  private void eval(String outbox, String script) {
    lab.redis().eval(script, List.of(outbox, outbox + ":saved"), List.of());
  }

  private void nothingIsTaken(FaultRun run, long sku) {
    long stock = Long.parseLong(lab.redis().get(RedisKeys.stock(sku)));
    String seq = lab.redis().hget(RedisKeys.sku(sku), "seq");
    run.load().awaitProblems(UNAVAILABLE, 100);
    assertThat(lab.redis().hget(RedisKeys.sku(sku), "seq")).isEqualTo(seq);
    assertThat(Long.parseLong(lab.redis().get(RedisKeys.stock(sku))))
        .as("stock, which compensations may increase")
        .isGreaterThanOrEqualTo(stock);
  }

  private void config(String name, String value) {
    lab.redis().configSet(name, value);
  }

  private void redis(Command command, String... words) {
    CommandArguments arguments = new CommandArguments(command);
    for (String word : words) {
      arguments.add(word);
    }
    lab.redis().executeCommand(arguments);
  }
}
