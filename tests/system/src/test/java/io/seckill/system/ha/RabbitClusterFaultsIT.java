package io.seckill.system.ha;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.testing.RabbitCluster;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of three RabbitMQ nodes; each queue has a member on each. */
@Tag("proof")
@OnChannel(durableIn = "replicas")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class RabbitClusterFaultsIT {

  private static final Duration PROMISED = Duration.ofSeconds(10);

  private final SentinelLab lab;
  private final RabbitCluster rabbit;

  RabbitClusterFaultsIT(SentinelLab lab) {
    this.lab = lab;
    this.rabbit = lab.servers().rabbit();
  }

  @Test
  @DisplayName("51: each RabbitMQ node killed in turn")
  void eachNodeKilled() {
    try (FaultRun run = lab.run("51 each RabbitMQ node killed").begin(300)) {
      for (RabbitServer node : rabbit.nodes()) {
        killed(run, node);
        rabbit.heal();
      }
      run.judge();
    }
  }

  private void killed(FaultRun run, RabbitServer node) {
    node.kill();
    run.awaitFlow("publishing is back", System.nanoTime(), PROMISED);
    run.fault("RabbitMQ node " + (rabbit.nodes().indexOf(node) + 1) + " killed");
  }

  @Test
  @DisplayName("52: the leader of every queue moved")
  void leadersMoved() {
    try (FaultRun run = lab.run("52 leaders of queues moved").begin(300)) {
      for (int queue = 0; queue < BrokerTopology.ORDER_QUEUES; queue++) {
        RabbitServer leader = leaderOf(queue);
        RabbitServer next = rabbit.nodes().get((rabbit.nodes().indexOf(leader) + 1) % 3);
        rabbit.moveLeader(vhost(), BrokerTopology.orderQueue(queue), next);
        run.fault("the leader of queue " + queue + " moved");
      }
      run.judge();
    }
  }

  @Test
  @DisplayName("53: two of three RabbitMQ nodes killed")
  void majorityKilled() {
    try (FaultRun run = lab.run("53 majority of RabbitMQ lost").begin(300)) {
      List<RabbitServer> nodes = rabbit.nodes();
      nodes.get(0).kill();
      nodes.get(1).kill();
      Signals.await("orders to wait in Redis", () -> run.waitingInRedis() > 100);
      run.fault("two of three RabbitMQ nodes killed");
      rabbit.heal();
      run.awaitFlow("publishing is back", System.nanoTime(), PROMISED);
      run.judge();
    }
  }

  @Test
  @DisplayName("54: a RabbitMQ node cut off from the others, and back")
  void partition() {
    try (FaultRun run = lab.run("54 RabbitMQ partition").begin(300)) {
      rabbit.partition(leaderOf(queueOf(run)));
      run.awaitFlow("publishing is back", System.nanoTime(), PROMISED);
      run.fault("a RabbitMQ node cut off from the others");
      rabbit.healPartition();
      run.awaitFlow("publishing is back", System.nanoTime(), PROMISED);
      run.judge();
    }
  }

  @Test
  @DisplayName("55: RabbitMQ nodes restarted one after the other")
  void rollingRestart() {
    try (FaultRun run = lab.run("55 RabbitMQ rolling restart").begin(300)) {
      for (RabbitServer node : rabbit.nodes()) {
        node.restart();
        rabbit.heal();
        run.fault("RabbitMQ node " + (rabbit.nodes().indexOf(node) + 1) + " restarted");
      }
      run.awaitFlow("publishing is back", System.nanoTime(), PROMISED);
      run.judge();
    }
  }

  /** Of a sale that does not sell out. */
  private static int queueOf(FaultRun run) {
    int partition = Partition.ofSku(run.neverSoldOut().get(0).skuId());
    return partition % BrokerTopology.ORDER_QUEUES;
  }

  private RabbitServer leaderOf(int queue) {
    return rabbit.leaderOf(vhost(), BrokerTopology.orderQueue(queue));
  }

  private String vhost() {
    return lab.servers().vhost().name();
  }
}
