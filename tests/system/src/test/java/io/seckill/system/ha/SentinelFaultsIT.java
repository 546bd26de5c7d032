package io.seckill.system.ha;

import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.LostSales;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.ServiceInstance;
import io.seckill.system.faults.Signals;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of a Redis primary, its two replicas and their Sentinels. */
@Tag("proof")
@OnChannel(durableIn = "replicas")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class SentinelFaultsIT {

  private static final String UNAVAILABLE = "ADMISSION_UNAVAILABLE";
  private static final Duration PROMISED = Duration.ofSeconds(10);

  private final SentinelLab lab;
  private final RedisReplicaSet redis;

  SentinelFaultsIT(SentinelLab lab) {
    this.lab = lab;
    this.redis = lab.redisServers();
  }

  private FaultRun run(String row) {
    return lab.run(
        row + ", durable in " + lab.channel().durableIn(), 3_000, Duration.ofSeconds(15));
  }

  @Test
  @DisplayName("42: Redis primary killed")
  void primaryKilled() {
    try (FaultRun run = run("42 Redis primary killed").begin(300)) {
      long since = System.nanoTime();
      RedisServer primary = redis.primary();
      primary.kill();
      redis.awaitFailover(primary);
      awaitAdmission(run, since);
      run.fault("the primary of Redis killed");
      run.judge();
    }
  }

  @Test
  @DisplayName("43: Redis primary frozen")
  void primaryFrozen() {
    try (FaultRun run = run("43 Redis primary frozen").begin(300)) {
      long since = System.nanoTime();
      RedisServer primary = redis.primary();
      primary.freeze();
      redis.awaitFailover(primary);
      awaitAdmission(run, since);
      primary.thaw();
      run.fault("the primary of Redis frozen until another was promoted");
      run.judge();
    }
  }

  /**
   * The losing side may admit until it notices that it has no replica. What it admits is lost, or
   * stored if a relay was in time; with Redis behind that, the sale closes until it is rebuilt.
   */
  @Test
  @DisplayName("44: Redis primary cut off from replicas and Sentinels, not from clients")
  void splitBrain() {
    try (FaultRun run = run("44 Redis split brain").begin(300)) {
      RedisServer primary = redis.primary();
      LostSales lost = new LostSales(lab, run);
      Set<String> before = run.acceptedOrders();
      run.load().expectLoss();
      lab.relays().forEach(ServiceInstance::freeze); // what they publish is not lost
      redis.cutOff(primary);
      redis.awaitFailover(primary);
      run.fault("the primary of Redis cut off from all but its clients");
      lab.heal();
      lost.rebuild();
      run.judge(LostSales.guarantees(mayBeMissing(run, before)), List.of());
    }
  }

  /** With one's own disk alone, what was accepted after the cut may be lost. */
  private Set<String> mayBeMissing(FaultRun run, Set<String> before) {
    if (!lab.channel().durableIn().equals("redis")) {
      return Set.of();
    }
    Set<String> since = new HashSet<>(run.acceptedOrders());
    since.removeAll(before);
    return since;
  }

  @Test
  @DisplayName("45: each Sentinel killed, and the primary with one of them")
  void sentinelsKilled() {
    try (FaultRun run = run("45 Sentinels killed").begin(300)) {
      for (int sentinel = 0; sentinel < 3; sentinel++) {
        redis.sentinelServers().get(sentinel).kill();
        int accepted = run.load().accepted();
        run.load().awaitAccepted(accepted + 100);
        run.fault("Sentinel " + sentinel + " killed");
        if (sentinel < 2) {
          redis.heal();
        }
      }
      long since = System.nanoTime();
      RedisServer primary = redis.primary();
      primary.kill();
      redis.awaitFailover(primary);
      awaitAdmission(run, since);
      run.fault("the primary of Redis killed while one Sentinel was dead");
      run.judge();
    }
  }

  @Test
  @DisplayName("46: both Redis replicas killed")
  void replicasKilled() {
    try (FaultRun run = run("46 Redis replicas killed").begin(300)) {
      redis.replicas().forEach(RedisServer::kill);
      run.load().awaitProblems(UNAVAILABLE, run.load().problems(UNAVAILABLE) + 100);
      run.fault("both replicas of Redis killed");
      long since = System.nanoTime();
      redis.heal();
      awaitAdmission(run, since);
      run.judge();
    }
  }

  @Test
  @DisplayName("47: Redis primary killed twice within ten seconds")
  void failoverTwice() {
    try (FaultRun run = run("47 Redis failover twice").begin(300)) {
      RedisServer first = redis.primary();
      first.kill();
      redis.awaitFailover(first);
      redis.heal();
      long since = System.nanoTime();
      RedisServer second = redis.primary();
      second.kill();
      redis.awaitFailover(second);
      awaitAdmission(run, since);
      run.fault("the primary of Redis killed, and the promoted one as soon as it had two replicas");
      run.judge();
    }
  }

  /** The primary dies with the one replica that has everything. */
  @Test
  @DisplayName("48: Redis primary lost with the replica that confirmed")
  void primaryLostWithItsReplica() {
    try (FaultRun run = run("48 Redis primary and replica lost").begin(300)) {
      RedisServer primary = redis.primary();
      List<RedisServer> replicas = redis.replicas();
      LostSales lost = new LostSales(lab, run);
      Set<String> before = run.acceptedOrders();
      run.load().expectLoss();
      RedisServer stale = replicas.get(1);
      lab.relays().forEach(ServiceInstance::freeze); // what they publish is not lost
      redis.cutOff(stale);
      run.load().awaitAccepted(run.load().accepted() + 300);
      primary.kill();
      replicas.get(0).kill();
      redis.rejoin(stale);
      Signals.await("the other replica to be promoted", () -> redis.primary().equals(stale));
      primary.wipe();
      replicas.get(0).wipe();
      run.fault("the primary of Redis lost with the only replica in step");
      lab.heal();
      lost.rebuild();
      Set<String> since = new HashSet<>(run.acceptedOrders());
      since.removeAll(before);
      Set<String> mayBeMissing = lab.channel().durableIn().equals("broker") ? Set.of() : since;
      run.judge(LostSales.guarantees(mayBeMissing), List.of());
    }
  }

  /** Admission is back when both sales have accepted more purchases than now. */
  private static void awaitAdmission(FaultRun run, long since) {
    for (SaleOffer sale : run.neverSoldOut()) {
      int accepted = run.acceptedOrders(sale).size();
      Signals.await("admission to be back", () -> run.acceptedOrders(sale).size() > accepted + 5);
    }
    run.took("admission is back", since, PROMISED);
  }
}
