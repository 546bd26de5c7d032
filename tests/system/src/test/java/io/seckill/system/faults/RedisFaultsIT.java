package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.ServiceMetrics;
import io.seckill.testing.LoopDisk;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of Redis itself and of its data. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class RedisFaultsIT {

  private static final String UNAVAILABLE = "ADMISSION_UNAVAILABLE";
  private static final int DISK_MB = 256;

  private static final String PURCHASES = "seckill_purchases_total";
  private static final String LATENCY = "seckill_admission_latency_seconds";
  private static final String STRONG_DECIDED = "seckill_strong_latency_seconds_count";

  /** Bound on the time from Redis's return. */
  private static final Duration ADMITS_AGAIN = Duration.ofSeconds(2);

  private final FaultLab lab;

  RedisFaultsIT(FaultLab lab) {
    this.lab = lab;
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
      run.judge(Explained.REDIS_AWAY);
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
                () -> proxy.notFromAGateway(strong, 60).isEmpty());
            Signals.await(
                "the other gateway to sell by MySQL", () -> proxy.buy(strong).status() == 201);
            Signals.await(
                "the other gateway to answer for Redis",
                () -> proxy.notFromAGateway(run.sale(0), 5).isEmpty());
            Signals.await("health to be known", () -> proxy.health().text("status").equals("DOWN"));
          });
      lab.gateway(1).thaw();
      run.judge(Explained.REDIS_AWAY);
    }
  }

  private void outage(String row, Fault fault) {
    try (FaultRun run = lab.run(row).begin(500)) {
      Outage outage = new Outage(run);
      run.during(fault, outage::answered);
      outage.over();
      run.judge(Explained.REDIS_AWAY);
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

  private void config(String name, String value) {
    lab.redis().configSet(name, value);
  }
}
