package io.seckill.system.ha;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.faults.Fault;
import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.LostSales;
import io.seckill.system.faults.PipelineLab;
import io.seckill.system.faults.RandomSchedule;
import io.seckill.system.faults.ServiceInstance;
import io.seckill.system.guarantee.Explained;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RabbitCluster;
import io.seckill.testing.TestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Row 61: random faults of every part of the HA form, ten times a minute. {@code -Dseed} selects
 * the first schedule, {@code -Dseckill.ha.schedules} the number of schedules. Faults of one kind of
 * server share a target, so that no two of its nodes have a fault at the same time: the form
 * survives the loss of one. The first sale is in shards.
 */
abstract class HaRandomSchedule {

  private static final long FIRST_SEED = Long.getLong("seed", 20_261_124L);
  private static final int SCHEDULES = Integer.getInteger("seckill.ha.schedules", 3);
  private static final Duration LENGTH = Duration.ofSeconds(60);
  private static final int PURCHASES_PER_SECOND = 100;
  private static final Duration JVM_START = Duration.ofSeconds(15);
  private static final Duration FAILOVER = Duration.ofSeconds(15);

  private final PipelineLab lab;
  private final HaServers servers;

  HaRandomSchedule(PipelineLab lab, HaServers servers) {
    this.lab = lab;
    this.servers = servers;
  }

  /** The faults of Redis in this form. */
  abstract List<Fault> ofRedis();

  static LongStream seeds() {
    return LongStream.range(FIRST_SEED, FIRST_SEED + SCHEDULES);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  @DisplayName("61: all of the HA form, random")
  void everythingAtRandom(long seed) throws InterruptedException {
    int purchases = (int) LENGTH.toSeconds() * PURCHASES_PER_SECOND;
    try (FaultRun run = lab.runWithShards("61 random schedule, seed " + seed, purchases, LENGTH)) {
      RandomSchedule schedule = RandomSchedule.plan(new Random(seed), faults(), LENGTH);
      schedule.events().forEach(event -> RandomSchedule.say("planned " + event));
      run.begin(0);
      LostSales lost = new LostSales(lab, run);
      schedule
          .run(event -> run.fault(event.fault().target() + ": " + event.fault().name()))
          .forEach(event -> RandomSchedule.say("without effect " + event));
      // The primary can die before a replica has an order that a relay has published.
      if (lost.rebuildIfLost()) {
        run.judge(LostSales.guarantees(Set.of()), List.of());
      } else {
        run.judge(Explained.REDIS_AWAY);
      }
      assertThat(run.moves(0)).as("units moved between shards").isPositive();
    }
  }

  private List<Fault> faults() {
    List<Fault> all = new ArrayList<>();
    for (ServiceInstance service : lab.all()) {
      all.add(
          Fault.state(
              service.name(),
              "kill",
              service::kill,
              () -> !service.isAlive(),
              service::restart,
              JVM_START));
      all.add(
          Fault.state(
              service.name(),
              "freeze",
              () -> freeze(service),
              service::isFrozen,
              service::thaw,
              Duration.ZERO));
    }
    all.addAll(ofRedis());
    RabbitCluster rabbit = servers.rabbit();
    for (int number = 0; number < rabbit.nodes().size(); number++) {
      all.addAll(toNode("RabbitMQ", rabbit.nodes().get(number), number, rabbit::heal));
    }
    MySqlPair mysql = servers.mysql();
    all.add(
        new Fault(
            "MySQL",
            "promote the standby",
            () -> {
              MySqlServer standby = mysql.standby();
              mysql.promote();
              return () -> mysql.primary() == standby;
            },
            mysql::rejoin,
            FAILOVER));
    all.add(
        Fault.state(
            "MySQL",
            "freeze the standby",
            () -> mysql.standby().freeze(),
            () -> mysql.standby().isFrozen(),
            mysql::heal,
            FAILOVER));
    return all;
  }

  static List<Fault> toNode(String kind, TestServer node, int number, Runnable heal) {
    String name = kind + " " + (number + 1);
    return List.of(
        Fault.state(kind, "kill " + name, node::kill, () -> !node.isRunning(), heal, FAILOVER),
        Fault.state(kind, "freeze " + name, node::freeze, node::isFrozen, heal, FAILOVER));
  }

  private static void freeze(ServiceInstance service) {
    service.supervise();
    service.freeze();
  }
}
