package io.seckill.system.ha;

import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.LostSales;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.ServiceInstance;
import io.seckill.system.faults.Signals;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Losses of Redis's data, whose extent depends on {@code durable-in}. */
@Tag("proof")
@OnChannel(durableIn = "replicas")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class SentinelLossIT {

  private final SentinelLab lab;
  private final RedisReplicaSet redis;

  SentinelLossIT(SentinelLab lab) {
    this.lab = lab;
    this.redis = lab.redisServers();
  }

  /**
   * The losing side may admit until it notices that it has no replica. What it admits is lost, or
   * stored if a relay was in time; with Redis behind that, the sale closes until it is rebuilt.
   */
  @Test
  @DisplayName("44: Redis primary cut off from replicas and Sentinels, not from clients")
  void splitBrain() {
    try (FaultRun run = lab.run("44 Redis split brain").begin(300)) {
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

  /** The primary dies with the one replica that has everything. */
  @Test
  @DisplayName("48: Redis primary lost with the replica that confirmed")
  void primaryLostWithItsReplica() {
    try (FaultRun run = lab.run("48 Redis primary and replica lost").begin(300)) {
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
}
