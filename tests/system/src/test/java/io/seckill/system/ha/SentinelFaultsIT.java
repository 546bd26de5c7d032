package io.seckill.system.ha;

import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
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

  @Test
  @DisplayName("42: Redis primary killed")
  void primaryKilled() {
    try (FaultRun run = lab.run("42 Redis primary killed").begin(300)) {
      long since = System.nanoTime();
      RedisServer primary = redis.primary();
      primary.kill();
      redis.awaitFailover(primary);
      awaitAdmission(run, since);
      run.fault("the primary of Redis killed");
      run.judge(Explained.REDIS_AWAY);
    }
  }

  @Test
  @DisplayName("43: Redis primary frozen")
  void primaryFrozen() {
    try (FaultRun run = lab.run("43 Redis primary frozen").begin(300)) {
      long since = System.nanoTime();
      RedisServer primary = redis.primary();
      primary.freeze();
      redis.awaitFailover(primary);
      awaitAdmission(run, since);
      primary.thaw();
      run.fault("the primary of Redis frozen until another was promoted");
      run.judge(Explained.REDIS_AWAY);
    }
  }

  @Test
  @DisplayName("45: each Sentinel killed, and the primary with one of them")
  void sentinelsKilled() {
    try (FaultRun run = lab.run("45 Sentinels killed").begin(300)) {
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
      run.judge(Explained.REDIS_AWAY);
    }
  }

  @Test
  @DisplayName("46: both Redis replicas killed")
  void replicasKilled() {
    try (FaultRun run = lab.run("46 Redis replicas killed").begin(300)) {
      redis.replicas().forEach(RedisServer::kill);
      run.load().awaitProblems(UNAVAILABLE, run.load().problems(UNAVAILABLE) + 100);
      run.fault("both replicas of Redis killed");
      long since = System.nanoTime();
      redis.heal();
      awaitAdmission(run, since);
      run.judge(Explained.REDIS_AWAY);
    }
  }

  @Test
  @DisplayName("47: Redis primary killed twice within ten seconds")
  void failoverTwice() {
    try (FaultRun run = lab.run("47 Redis failover twice").begin(300)) {
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
      run.judge(Explained.REDIS_AWAY);
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
