package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of gateways, and of their links, pools and clocks. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class GatewayFaultsIT {

  private final FaultLab lab;

  GatewayFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("1: gateway killed after admission, before answering")
  void killedAfterAdmissionBeforeAnswering() {
    try (FaultRun run = lab.run("1 gateway killed after admission, before answering")) {
      ServiceInstance gateway = lab.gateway(1);
      gateway.agent().arm(Points.ADMITTED_NOT_ANSWERED, PointAction.HALT, 20);
      run.begin(0);
      gateway.awaitDeath();
      assertThat(gateway.agent().hasReached(Points.ADMITTED_NOT_ANSWERED)).isTrue();
      run.fault("gateway-1 killed between admission and answer");
      run.judge();
      assertThat(run.crowd().unanswered()).as("requests without answer").isPositive();
    }
  }

  @Test
  @DisplayName("2: admission reply lost")
  void admissionReplyLost() {
    try (FaultRun run = lab.run("2 admission reply lost").begin(300)) {
      for (ServiceInstance gateway : lab.gateways()) {
        TcpProxy link = gateway.links().redis();
        long before = link.droppedBytes();
        int unavailable = run.crowd().problems("ADMISSION_UNAVAILABLE");
        link.dropToClient(true);
        Signals.await("replies to be lost", () -> link.droppedBytes() > before);
        run.crowd().awaitProblems("ADMISSION_UNAVAILABLE", unavailable + 40);
        run.fault("replies of Redis to " + gateway.name() + " lost");
        link.heal();
      }
      run.judge();
    }
  }

  @Test
  @DisplayName("30: pools exhausted")
  void poolsExhausted() {
    ServiceInstance consumer = lab.consumer(1);
    ServiceInstance gateway = lab.gateway(1);
    try (FaultRun run = lab.run("30 pools exhausted")) {
      lab.consumer(2).links().rabbit().cut();
      lab.gateway(2).links().redis().cut();
      restart(consumer, Map.of("SPRING_DATASOURCE_HIKARI_MAXIMUMPOOLSIZE", "2"));
      restart(
          gateway,
          Map.of(
              "SECKILL_REDIS_MAXCONNECTIONS",
              "1",
              "SPRING_DATASOURCE_HIKARI_MAXIMUMPOOLSIZE",
              "1"));
      consumer.awaitReady();
      gateway.awaitReady();
      assertThat(gateway.metrics().sum("hikaricp_connections_max")).isEqualTo(1);
      run.begin(1_500);
      assertThat(consumer.metrics().sum("hikaricp_connections_max", "pool=\"ledger\""))
          .isEqualTo(2);
      run.fault(
          "one gateway with one connection to Redis, one consumer with two to MySQL for all but"
              + " storing orders and reconciling");
      run.crowd().lastCall();
      Signals.await("the orders to be stored", () -> run.crowd().isDone() && run.inBroker() == 0);
      consumer.kill();
      gateway.kill();
      run.judge();
    }
  }

  @Test
  @DisplayName("32: clocks jump by an hour")
  void clocksJump() {
    Instant now = Instant.now();
    SaleOffer early = new SaleOffer(lab.plenty().skuId(), PurchasePolicy.UNLIMITED, 0, 100);
    SaleOffer late = lab.plenty();
    lab.open(early, now.plus(Duration.ofMinutes(30)), now.plus(Duration.ofHours(2)));
    lab.open(late, now.minus(Duration.ofMinutes(30)), now.plus(Duration.ofMinutes(30)));
    try (FaultRun run = lab.run("32 clocks jump by an hour").begin(200)) {
      shift(Duration.ofHours(1), Duration.ofHours(-1));
      run.crowd().awaitAccepted(800);
      run.fault("clocks of one of each an hour ahead, of the others an hour behind");
      for (int shop = 0; shop < 2; shop++) {
        assertSellsByTheClockOfRedis(lab.shops().get(shop), early, late);
      }
      shift(Duration.ofHours(-1), Duration.ofHours(1));
      run.crowd().awaitAccepted(1_400);
      run.fault("and back by two hours");
      run.judge();
    } finally {
      shift(Duration.ZERO, Duration.ZERO);
    }
  }

  /** A gateway that makes no ids until its lease fits its clock says so with 503. */
  private static void assertSellsByTheClockOfRedis(
      ShopClient shop, SaleOffer early, SaleOffer late) {
    Signals.await(
        "the open sale to sell",
        () -> shop.buy(1, late.skuId(), 1, "bought-in-time").status() == 202);
    assertThat(shop.buy(1, early.skuId(), 1, "too-early").code()).isEqualTo("NOT_OPEN");
  }

  private void shift(Duration first, Duration second) {
    for (int number = 1; number <= 2; number++) {
      Duration shift = number == 1 ? first : second;
      lab.gateway(number).agent().shiftClock(shift);
      lab.relay(number).agent().shiftClock(shift);
      lab.consumer(number).agent().shiftClock(shift);
    }
  }

  private static void restart(ServiceInstance service, Map<String, String> settings) {
    service.kill();
    service.restart(settings);
  }
}
