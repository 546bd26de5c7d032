package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of gateways, and of their links, pools and clocks. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class GatewayFaultsIT {

  /** Delay in each direction; far below the time-outs of a call. */
  private static final Duration LATE = Duration.ofMillis(30);

  private static final String NONE_FREE = "Could not get a resource from the pool";
  private static final String LEDGER = "pool=\"ledger\"";
  private static final Duration AN_HOUR = Duration.ofHours(1);
  private static final Duration A_MINUTE = Duration.ofMinutes(1);

  private final FaultLab lab;

  GatewayFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Tag("proof")
  @Test
  @DisplayName("1: gateway killed after admission, before answering; the other one answers")
  void killedAfterAdmissionBeforeAnswering() {
    try (FaultRun run = lab.run("1 gateway killed after admission, before answering")) {
      ServiceInstance gateway = lab.gateway(1);
      gateway.agent().arm(Failpoints.ADMITTED_NOT_ANSWERED, PointAction.HALT, 20);
      run.begin(0);
      gateway.awaitDeathAt(Failpoints.ADMITTED_NOT_ANSWERED);
      run.fault("gateway-1 killed between admission and answer");
      Signals.await(
          "orders it had admitted to be answered by the other gateway",
          () -> run.load().foundAgain() > 0);
      run.judge();
    }
  }

  @Test
  @DisplayName("2: admission reply lost")
  void admissionReplyLost() {
    try (FaultRun run = lab.run("2 admission reply lost").begin(300)) {
      for (ServiceInstance gateway : lab.gateways()) {
        TcpProxy link = gateway.links().redis();
        long before = link.droppedBytes();
        int unavailable = run.load().problems("ADMISSION_UNAVAILABLE");
        link.dropToClient(true);
        Signals.await("replies to be lost", () -> link.droppedBytes() > before);
        run.load().awaitProblems("ADMISSION_UNAVAILABLE", unavailable + 40);
        run.fault("replies of Redis to " + gateway.name() + " lost");
        link.heal();
      }
      run.judge();
    }
  }

  @Tag("proof")
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
      assertThat(gateway.sum("hikaricp_connections_max")).isEqualTo(1);
      assertThat(consumer.sum("hikaricp_connections_max", LEDGER)).isEqualTo(2);
      exhaust(run, gateway, consumer);
      run.load().lastCall();
      Signals.await("the orders to be stored", () -> run.load().isDone() && run.inBroker() == 0);
      consumer.kill();
      gateway.kill();
      run.judge();
    }
  }

  /**
   * Slows calls down, without a time-out, until callers wait for a connection in use: payments and
   * cancels for one to MySQL, and purchases for the only one to Redis, which they do not get in
   * time.
   */
  private static void exhaust(FaultRun run, ServiceInstance gateway, ServiceInstance consumer) {
    long before = gateway.logged(NONE_FREE);
    gateway.links().redis().delay(LATE);
    consumer.links().mysql().delay(LATE);
    run.begin(0);
    Signals.await(
        "payments to wait for a connection to MySQL",
        () -> consumer.sum("hikaricp_connections_pending", LEDGER) > 0);
    run.fault("two connections of a consumer to MySQL, for all but storing and reconciling: waits");
    Signals.await(
        "purchases that find no connection to Redis free",
        () -> gateway.logged(NONE_FREE) > before);
    run.fault("one connection of a gateway to Redis: purchases that found none free");
    gateway.links().redis().heal();
    consumer.links().mysql().heal();
    run.load().awaitAccepted(1_500);
  }

  @Tag("proof")
  @Test
  @DisplayName("32: clocks jump by an hour")
  void clocksJump() {
    Instant now = Instant.now();
    SaleOffer early = new SaleOffer(lab.plenty().skuId(), PurchasePolicy.UNLIMITED, 0, 100);
    SaleOffer late = lab.plenty();
    lab.open(early, now.plus(Duration.ofMinutes(30)), now.plus(Duration.ofHours(2)));
    lab.open(late, now.minus(Duration.ofMinutes(30)), now.plus(Duration.ofMinutes(30)));
    try (FaultRun run = lab.run("32 clocks jump by an hour").begin(200)) {
      jump(AN_HOUR, AN_HOUR.negated(), late);
      run.fault("time of day of one of each an hour ahead, of the others an hour behind");
      run.load().awaitAccepted(800);
      for (ShopClient shop : lab.shops()) {
        assertSellsByTheClockOfRedis(shop, early, late);
      }
      assertThat(idOfAnOrder(1, late))
          .as("time in order ids of the gateway that is ahead")
          .isAfter(Instant.now().plus(AN_HOUR).minus(A_MINUTE));
      jump(AN_HOUR.negated(), AN_HOUR, late);
      run.fault("and back by two hours");
      run.load().awaitAccepted(1_400);
      run.judge();
    } finally {
      shift(Duration.ZERO, Duration.ZERO);
    }
  }

  /** A gateway whose lease does not fit its clock creates no ids and answers 503. */
  private static void assertSellsByTheClockOfRedis(
      ShopClient shop, SaleOffer early, SaleOffer late) {
    Signals.await(
        "the open sale to sell",
        () -> shop.buy(1, late.skuId(), 1, "bought-in-time").status() == 202);
    assertThat(shop.buy(1, early.skuId(), 1, "too-early").code()).isEqualTo("NOT_OPEN");
  }

  private Instant idOfAnOrder(int gateway, SaleOffer sale) {
    Answer answer = lab.shops().get(gateway - 1).buy(2, sale.skuId(), 1, "bought-by-another-clock");
    return Instant.ofEpochMilli(OrderId.parse(answer.text("orderId")).timeMs());
  }

  /** Shifts the time of day of all six processes and waits until each shows the shifted time. */
  private void jump(Duration first, Duration second, SaleOffer onSale) {
    shift(first, second);
    for (ServiceInstance service : lab.all()) {
      boolean ofTheFirst = service.name().endsWith("1");
      Signals.awaitThat(
          "the time of day of " + service.name() + " to follow",
          () ->
              assertThat(lab.timeOfDay(service, onSale))
                  .isCloseTo(
                      Instant.now().plus(ofTheFirst ? first : second),
                      within(1, ChronoUnit.MINUTES)));
    }
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
