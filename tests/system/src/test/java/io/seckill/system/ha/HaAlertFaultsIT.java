package io.seckill.system.ha;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.ServiceInstance;
import io.seckill.system.faults.Signals;
import io.seckill.system.faults.SteadyShoppers;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.observability.AlertWatch;
import io.seckill.testing.RabbitCluster;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of the HA form raise the alerts that only it has, from the scrape of the pipeline. */
@Tag("proof")
@OnChannel(durableIn = "replicas")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class HaAlertFaultsIT {

  private final SentinelLab lab;
  private final RabbitCluster rabbit;

  HaAlertFaultsIT(SentinelLab lab) {
    this.lab = lab;
    this.rabbit = lab.servers().rabbit();
  }

  private AlertWatch watch() {
    AlertWatch watch =
        AlertWatch.start(
            Map.of(
                "gateway", ports(lab.gateways()),
                "relay", ports(lab.relays()),
                "consumer", ports(lab.consumers()),
                "rabbitmq", rabbit.nodes().stream().map(RabbitServer::metricsPort).toList()));
    int targets = lab.all().size() + rabbit.nodes().size();
    Signals.await("Prometheus to scrape everything", () -> watch.targetsUp() == targets);
    return watch;
  }

  private static List<Integer> ports(List<ServiceInstance> services) {
    return services.stream().map(ServiceInstance::healthPort).toList();
  }

  private SteadyShoppers shoppers() {
    SaleOffer sale = lab.newSale();
    return new SteadyShoppers(lab, sale);
  }

  @Test
  @DisplayName("a Redis replica killed, then the other one frozen")
  void replicas() {
    List<RedisServer> replicas = lab.redisServers().replicas();
    try (AlertWatch watch = watch();
        SteadyShoppers shoppers = shoppers()) {
      shoppers.start();
      replicas.get(0).kill();
      watch.awaitFiring("RedisReplicaLost");
      replicas.get(1).freeze();
      watch.awaitFiring("ReplicationTooSlow");
      lab.heal();
      watch.awaitSilent("RedisReplicaLost");
    }
  }

  @Test
  @DisplayName("the standby of MySQL killed, and back")
  void standby() {
    try (AlertWatch watch = watch();
        SteadyShoppers shoppers = shoppers()) {
      shoppers.start();
      lab.servers().mysql().standby().kill();
      watch.awaitFiring("StandbyBehind");
      lab.heal();
      watch.awaitSilent("StandbyBehind");
    }
  }

  @Test
  @DisplayName("one RabbitMQ node leads every queue, then another one is killed")
  void rabbitNodes() {
    String vhost = lab.servers().vhost().name();
    RabbitServer leader = rabbit.nodes().get(0);
    try (AlertWatch watch = watch()) {
      for (int queue = 0; queue < BrokerTopology.ORDER_QUEUES; queue++) {
        rabbit.moveLeader(vhost, BrokerTopology.orderQueue(queue), leader);
      }
      watch.awaitFiring("QueueLeadersOnOneNode");
      rabbit.nodes().get(1).kill();
      watch.awaitFiring("QueueMembersMissing", "InstanceDown");
      lab.heal();
      watch.awaitSilent("QueueMembersMissing");
    }
  }
}
