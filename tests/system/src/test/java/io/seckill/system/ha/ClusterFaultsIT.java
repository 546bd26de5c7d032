package io.seckill.system.ha;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of a Redis Cluster of three primaries, each with a replica. */
@OnChannel(durableIn = "broker")
@Tag("proof")
@ExtendWith({TestServers.class, ClusterLab.Extension.class})
class ClusterFaultsIT {

  private static final Duration PROMISED = Duration.ofSeconds(10);

  private final ClusterLab lab;
  private final RedisCluster redis;

  ClusterFaultsIT(ClusterLab lab) {
    this.lab = lab;
    this.redis = lab.redisServers();
  }

  private FaultRun run(String row) {
    return lab.run(row, 3_000, Duration.ofSeconds(15));
  }

  @Test
  @DisplayName("49: primary of a Redis Cluster killed, other partitions sell on")
  void primaryKilled() {
    try (FaultRun run = run("49 Redis Cluster primary killed").begin(300)) {
      RedisServer primary = primaryOf(run.sale(0));
      List<SaleOffer> hit = salesOn(run, primary, true);
      List<SaleOffer> others = salesOn(run, primary, false);
      assertThat(others).as("sales on other primaries").isNotEmpty();
      long since = System.nanoTime();
      primary.kill();
      int before = accepted(run, others);
      Signals.await("the others to sell on", () -> accepted(run, others) > before + 20);
      assertThat(primaryOf(run.sale(0))).as("the primary before the failover").isEqualTo(primary);
      Signals.await("a replica to be promoted", () -> !primaryOf(run.sale(0)).equals(primary));
      int then = accepted(run, hit);
      Signals.await("admission to be back", () -> accepted(run, hit) > then + 20);
      run.took("admission is back", since, PROMISED);
      run.fault("a primary of the Redis Cluster killed");
      run.judge();
    }
  }

  @Test
  @DisplayName("50: slot of a Redis Cluster moved during a sale")
  void slotMoved() {
    try (FaultRun run = run("50 Redis Cluster slot moved").begin(300)) {
      SaleOffer sale = run.sale(0);
      RedisServer from = primaryOf(sale);
      RedisServer to =
          run.sales().stream()
              .map(this::primaryOf)
              .filter(node -> !node.equals(from))
              .findFirst()
              .orElseThrow();
      redis.moveSlot(RedisKeys.stock(sale.skuId()), to);
      assertThat(primaryOf(sale)).as("the new owner of the slot").isEqualTo(to);
      int before = accepted(run, List.of(sale));
      Signals.await("its sale to go on", () -> accepted(run, List.of(sale)) > before + 20);
      run.fault("the slot of a sale moved to another primary");
      run.judge();
    }
  }

  private RedisServer primaryOf(SaleOffer sale) {
    return redis.primaryOf(RedisKeys.stock(sale.skuId()));
  }

  private List<SaleOffer> salesOn(FaultRun run, RedisServer node, boolean wanted) {
    return run.sales().stream().filter(sale -> primaryOf(sale).equals(node) == wanted).toList();
  }

  private static int accepted(FaultRun run, List<SaleOffer> sales) {
    return sales.stream().mapToInt(sale -> run.acceptedOrders(sale).size()).sum();
  }
}
