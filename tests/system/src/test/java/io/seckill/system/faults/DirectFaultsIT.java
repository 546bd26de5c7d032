package io.seckill.system.faults;

import static io.seckill.testing.Eventually.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.agent.inside.PointAction;
import io.seckill.testing.TestServers;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of gateways that publish their admissions themselves. */
@Tag("proof")
@OnChannel(durableIn = "broker")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class DirectFaultsIT {

  /** Of the 200 shoppers who wait for an answer at most. */
  private static final int MANY = 150;

  private final FaultLab lab;

  DirectFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("38: gateway killed between script and publish; relays adopt")
  void killedBetweenScriptAndPublish() {
    killedAt(Failpoints.CLAIMED_NOT_PUBLISHED, "38 gateway killed between script and publish");
  }

  @Test
  @DisplayName("39: gateway killed between confirm and removal; relays publish twice")
  void killedBetweenConfirmAndRemoval() {
    killedAt(Failpoints.CONFIRMED_NOT_REMOVED, "39 gateway killed between confirm and removal");
  }

  private void killedAt(String point, String row) {
    try (FaultRun run = lab.run(row)) {
      ServiceInstance gateway = lab.gateway(1);
      double before = adopted();
      gateway.agent().arm(point, PointAction.HALT, 20);
      run.begin(0);
      gateway.awaitDeathAt(point);
      Signals.await( // relays may adopt them before a slow test looks
          "orders that the dead gateway left",
          () -> !PrivateQueues.of(lab, "gateway@gateway-1").isEmpty() || adopted() > before);
      run.fault("gateway-1 killed at " + point);
      awaitAdopted(before);
      run.judge();
    }
  }

  @Test
  @DisplayName("40: gateway frozen beyond its lease, adopted, then awake")
  void frozenBeyondItsLease() throws Exception {
    try (FaultRun run = lab.run("40 gateway frozen beyond its lease");
        PublishedOrders published = new PublishedOrders(lab.servers())) {
      ServiceInstance frozen = lab.gateway(1);
      double fenced = fenced(frozen);
      double before = adopted();
      frozen.agent().arm(Failpoints.CLAIMED_NOT_PUBLISHED, PointAction.PAUSE, 20);
      run.begin(0);
      Set<String> handedOver = freezeWithClaims(frozen, published);
      awaitAdopted(before); // what it had sent may be published without the relays
      Signals.await("relays to publish them all", () -> published.of(handedOver, false).isEmpty());
      run.fault("gateway-1 frozen beyond its lease; relays adopted what it had");
      frozen.thaw();
      frozen.agent().release(Failpoints.CLAIMED_NOT_PUBLISHED);
      Signals.await("a late publish of gateway-1", () -> published.hasTwice(handedOver));
      Signals.await("it to know that it is fenced", () -> fenced(frozen) > fenced);
      run.judge();
    }
  }

  /**
   * Armed again by a slow test, because a blocked lane hands its claims over after four seconds.
   * Returns the claimed orders that are not published.
   */
  private Set<String> freezeWithClaims(ServiceInstance gateway, PublishedOrders published)
      throws Exception {
    while (true) {
      gateway.agent().awaitReached(Failpoints.CLAIMED_NOT_PUBLISHED, SOON);
      gateway.freeze();
      Set<String> claimed = published.of(PrivateQueues.of(lab, "gateway@gateway-1"), false);
      if (!claimed.isEmpty()) {
        return claimed;
      }
      gateway.thaw();
      gateway.agent().release(Failpoints.CLAIMED_NOT_PUBLISHED);
      gateway.agent().arm(Failpoints.CLAIMED_NOT_PUBLISHED, PointAction.PAUSE, 1);
    }
  }

  @Test
  @DisplayName("41: broker blocked: from the direct channel to the outbox and back, under load")
  void usesTheOutboxWhileTheBrokerIsBlocked() {
    try (FaultRun run = lab.run("41 direct channel shut and open again").begin(200)) {
      double settled = settledByGateways();
      assertThat(settled).as("orders that gateways published").isPositive();
      lab.servers().rabbit().setMemoryWatermark(0.0000001);
      try {
        run.load().awaitProblems("ADMISSION_UNAVAILABLE", 600);
        Signals.await("orders to be in the outboxes", () -> run.waitingInRedis() > MANY);
        run.fault("memory alarm: gateways admitted through the outbox and promised nothing");
      } finally {
        lab.servers().rabbit().setMemoryWatermark(0.4);
      }
      double before = settledByGateways();
      Signals.await("gateways to publish again", () -> settledByGateways() > before + 100);
      run.fault("alarm over: gateways published again");
      run.judge();
    }
  }

  private void awaitAdopted(double before) {
    Signals.await(
        "relays to adopt them",
        () -> adopted() > before && PrivateQueues.of(lab, "gateway@gateway-1").isEmpty());
  }

  private double adopted() {
    return ServiceInstance.sum(lab.relays(), "seckill_relay_adopted_total");
  }

  private double settledByGateways() {
    return ServiceInstance.sum(lab.gateways(), "seckill_relay_settled_total");
  }

  private static double fenced(ServiceInstance gateway) {
    return gateway.sum("seckill_relay_leases_fenced_total");
  }
}
