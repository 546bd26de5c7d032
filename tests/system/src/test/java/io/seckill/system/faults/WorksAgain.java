package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.ServiceMetrics;
import io.seckill.system.shop.Answer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * I15: every lane, every consumer and every breaker works again. One order goes through each of the
 * 16 partitions, from both gateways, each gateway sells of a strong sale, and all six processes
 * report that they are ready.
 */
public final class WorksAgain {

  private static final double RUNNING = 2;
  private static final String BREAKER_STATE = "seckill_breaker_state";

  private final PipelineLab lab;
  private final AtomicInteger rounds = new AtomicInteger();
  private final SaleOffer strong;
  private List<SaleOffer> probes = List.of();

  WorksAgain(PipelineLab lab) {
    this.lab = lab;
    strong = lab.plenty().strong();
    lab.open(strong);
    newProbes();
  }

  /** Puts a new SKU per partition on sale; also needed after a loss of Redis's data. */
  public void newProbes() {
    List<SaleOffer> fresh = new ArrayList<>();
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      SaleOffer probe = lab.plenty();
      lab.open(probe);
      fresh.add(probe);
    }
    probes = fresh;
  }

  /**
   * The caller repeats it until it passes; each call buys with new keys.
   *
   * @throws AssertionError naming what does not work yet
   */
  void judge() throws SQLException {
    for (ServiceInstance service : lab.all()) {
      assertThat(service.isReady()).as("%s is ready", service.name()).isTrue();
    }
    lab.laneOwners().forEach(WorksAgain::lanesRun);
    lanesHoldLeases();
    lab.consumers().forEach(WorksAgain::intakesRun);
    lab.gateways().forEach(WorksAgain::breakersAreClosed);
    int round = rounds.incrementAndGet();
    for (int i = 0; i < probes.size(); i++) {
      Answer answer =
          lab.shops().get(i % 2).buy(1 + round, probes.get(i).skuId(), 1, "probe-round-" + round);
      assertThat(answer.status()).as("probe of %s: %s", probes.get(i), answer).isEqualTo(202);
    }
    for (int i = 0; i < lab.shops().size(); i++) {
      Answer answer = lab.shops().get(i).buy(1 + i, strong.skuId(), 1, "strong-probe-" + round);
      assertThat(answer.status()).as("probe of %s: %s", strong, answer).isEqualTo(201);
    }
    assertStored(round);
  }

  private static void lanesRun(ServiceInstance owner) {
    assertThat(owner.sum("seckill_relay_lane_state", "state=\"running\""))
        .as("running lanes of %s", owner.name())
        .isEqualTo(Partition.COUNT);
  }

  /**
   * One lane of each owner; the queue of a lane that works without a lease is swept by the others.
   */
  private void lanesHoldLeases() {
    String now = Long.toString(System.currentTimeMillis());
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      assertThat(lab.redis().zcount(RedisKeys.lanes(partition), now, "+inf"))
          .as("lanes with a lease in partition %d", partition)
          .isEqualTo(lab.laneOwners().size());
    }
  }

  /**
   * Each intake is running, whether or not it is its queue's active consumer, and the MySQL breaker
   * is closed. The Redis breaker is not checked: in a standby consumer, which makes no calls, it
   * stays open until the next call succeeds.
   */
  private static void intakesRun(ServiceInstance consumer) {
    ServiceMetrics metrics = consumer.metrics("seckill_consumer_intake_state", BREAKER_STATE);
    for (int queue = 0; queue < BrokerTopology.ORDER_QUEUES; queue++) {
      String name = BrokerTopology.orderQueue(queue);
      assertThat(metrics.sum("seckill_consumer_intake_state", "queue=\"" + name + "\""))
          .as("state of the intake of %s in %s", name, consumer.name())
          .isEqualTo(RUNNING);
    }
    assertThat(metrics.sum(BREAKER_STATE, "breaker=\"mysql\"", "state=\"closed\""))
        .as("closed MySQL breaker of %s", consumer.name())
        .isEqualTo(1);
  }

  /** One breaker, or on a cluster one for each partition. */
  private static void breakersAreClosed(ServiceInstance gateway) {
    ServiceMetrics metrics = gateway.metrics(BREAKER_STATE, "seckill_redis_verified");
    assertThat(metrics.sum(BREAKER_STATE, "breaker=\"redis", "state=\"closed\""))
        .as("closed Redis breakers of %s", gateway.name())
        .isPositive()
        .isEqualTo(metrics.sum(BREAKER_STATE, "breaker=\"redis"));
    assertThat(metrics.sum("seckill_redis_verified"))
        .as("verified Redis of %s", gateway.name())
        .isEqualTo(1);
  }

  private void assertStored(int round) throws SQLException {
    String sql = "SELECT COUNT(*) FROM orders WHERE request_id = ? AND status = 'CONFIRMED'";
    try (Connection mysql = lab.database().connect();
        PreparedStatement select = mysql.prepareStatement(sql)) {
      select.setString(1, "probe-round-" + round);
      Signals.await("probes of round " + round, () -> count(select) == probes.size());
    }
  }

  private static long count(PreparedStatement select) throws SQLException {
    try (ResultSet rows = select.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
