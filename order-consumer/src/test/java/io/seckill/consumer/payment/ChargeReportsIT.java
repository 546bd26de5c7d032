package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.payment.PendingWork.WorkKind;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** No charge that a provider reports is forgotten. */
@ExtendWith(TestServers.class)
class ChargeReportsIT extends ReportedCharges {

  /** One report, and what becomes of it. {@code sim-<order>} is the simulated provider's charge. */
  record Case(String status, String report, String reason, String statusAfter, String payment) {

    @Override
    public String toString() {
      return status + ": " + report;
    }
  }

  static Stream<Arguments> cases() {
    List<Case> cases =
        List.of(
            new Case("CONFIRMED", "CHARGED c 9900", "-", "PAID", "CHARGED"),
            new Case("CONFIRMED", "CHARGED c 9900 USD", "OTHER_CURRENCY", "CONFIRMED", "-"),
            new Case("CONFIRMED", "CHARGED c 6000", "OTHER_AMOUNT", "CONFIRMED", "-"),
            new Case("CONFIRMED", "CHARGED c 0", "OTHER_AMOUNT", "CONFIRMED", "-"),
            new Case("CONFIRMED", "CHARGED c 9901", "OTHER_AMOUNT", "CONFIRMED", "-"),
            new Case("CONFIRMED", "REFUNDED c 9900", "REFUNDED_BY_PROVIDER", "CONFIRMED", "-"),
            new Case("CONFIRMED", "CHARGED wallet 9900", "CHARGE_OF_OTHER_ORDER", "CONFIRMED", "-"),
            new Case("PAID", "CHARGED sim 9900", "-", "PAID", "CHARGED"),
            new Case("PAID", "CHARGED c 9900", "SECOND_CHARGE", "PAID", "CHARGED"),
            new Case("PAID", "CHARGED sim 6000", "OTHER_AMOUNT", "PAID", "CHARGED"),
            new Case("PAID", "CHARGED c 6000", "OTHER_AMOUNT", "PAID", "CHARGED"),
            new Case("PAID", "CHARGED sim 9900 USD", "OTHER_CURRENCY", "PAID", "CHARGED"),
            new Case("PAID", "REFUNDED sim 9900", "REFUNDED_BY_PROVIDER", "PAID", "CHARGED"),
            new Case("PAID", "REFUNDED sim 6000", "OTHER_AMOUNT", "PAID", "CHARGED"),
            new Case("PAID", "REFUNDED c 9900", "REFUNDED_BY_PROVIDER", "PAID", "CHARGED"),
            new Case("CANCELLED", "CHARGED c 9900", "-", "CANCELLED", "REFUNDED"),
            new Case("CANCELLED", "CHARGED c 6000", "OTHER_AMOUNT", "CANCELLED", "-"),
            new Case("CANCELLED", "REFUNDED c 9900", "-", "CANCELLED", "-"),
            new Case("EXPIRED", "CHARGED c 9900", "-", "EXPIRED", "REFUNDED"),
            new Case("EXPIRED", "CHARGED c 9900 USD", "OTHER_CURRENCY", "EXPIRED", "-"),
            new Case("REJECTED", "CHARGED c 9900", "-", "REJECTED", "REFUNDED"),
            new Case("REJECTED", "CHARGED c 9901", "OTHER_AMOUNT", "REJECTED", "-"),
            new Case("NOT_STORED", "CHARGED c 9900", "UNKNOWN_ORDER", "NOT_STORED", "-"),
            new Case("NOT_STORED", "REFUNDED c 9900", "UNKNOWN_ORDER", "NOT_STORED", "-"));
    // A report is judged alike for both deciders of a sale; what it changes may differ.
    return Stream.of(SoldBy.values())
        .flatMap(
            soldBy ->
                cases.stream()
                    .filter(one -> soldBy == SoldBy.REDIS || one.reason().equals("-"))
                    .map(one -> Arguments.of(soldBy, one)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("cases")
  void aReportOfMoneyIsNeverForgotten(SoldBy soldBy, Case expected) {
    OrderId id = order(soldBy, expected.status());
    double refunds = refunds();

    Answer first = report(id, expected.report());
    Answer repeated = report(id, expected.report());

    boolean isExplained = expected.reason().equals("-");
    assertThat(first.status()).as(first.text()).isEqualTo(isExplained ? 200 : 202);
    assertThat(repeated.body()).isEqualTo(first.body());
    assertThat(reason(first)).isEqualTo(expected.reason());
    assertThat(status(id)).isEqualTo(expected.statusAfter());
    assertThat(payment(id)).isEqualTo(expected.payment());
    assertThat(openRows(id))
        .containsExactlyElementsOf(
            isExplained ? List.of() : List.of(expected.reason() + " " + named(id, expected)));
    assertThat(refunds() - refunds).isEqualTo(expected.payment().equals("REFUNDED") ? 1 : 0);
  }

  private static double refunds() {
    return consumer.bean(MeterRegistry.class).get("seckill.consumer.refunds").counter().count();
  }

  private static String named(OrderId id, Case expected) {
    String[] words = expected.report().split(" ", -1);
    return String.join(" ", words[0], charge(id, words[1]), words[2]);
  }

  @Test
  void anEventIdThatIsUsedTwiceHidesNoCharge() {
    OrderId one = order(SoldBy.REDIS, "CONFIRMED");
    OrderId two = order(SoldBy.REDIS, "CONFIRMED");

    callback(body("evt-1", one, "CHARGED", "c1-" + one, PRICE));
    callback(body("evt-1", two, "CHARGED", "c2-" + two, PRICE));
    callback(body("evt-1", one, "CHARGED", "c3-" + one, PRICE));

    assertThat(List.of(status(one), status(two))).containsExactly("PAID", "PAID");
    assertThat(openRows(one)).containsExactly("SECOND_CHARGE CHARGED c3-" + one + " 9900");
  }

  @Test
  void aChargePaysForOneOrderOnly() {
    OrderId one = order(SoldBy.REDIS, "CONFIRMED");
    OrderId two = order(SoldBy.STRONG_SALE, "CONFIRMED");
    String charge = "same-" + one;

    callback(body("e", one, "CHARGED", charge, PRICE));
    Answer second = callback(body("f", two, "CHARGED", charge, PRICE));
    Answer ofWallet = callback(body("g", two, "CHARGED", "wallet-" + one, PRICE));

    assertThat(reason(second)).isEqualTo("CHARGE_OF_OTHER_ORDER");
    assertThat(reason(ofWallet)).isEqualTo("CHARGE_OF_OTHER_ORDER");
    assertThat(List.of(status(one), status(two))).containsExactly("PAID", "CONFIRMED");
    assertThat(openRows(two))
        .containsExactly(
            "CHARGE_OF_OTHER_ORDER CHARGED " + charge + " 9900",
            "CHARGE_OF_OTHER_ORDER CHARGED wallet-" + one + " 9900");
  }

  @Test
  void aChargeReportedWithTwoAmountsPaysForNothing() {
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    report(id, "CHARGED sim 6000");

    Answer right = report(id, "CHARGED sim 9900");
    Answer paid = pay(id);

    assertThat(reason(right)).isEqualTo("CONTRADICTED");
    assertThat(paid.code()).isEqualTo("PAYMENT_DECLINED");
    assertThat(status(id)).isEqualTo("CONFIRMED");
    orders.age(id, 1_801);
    ExpirySweep.by(consumer);
    consumer.bean(PaymentSweep.class).sweep();
    assertThat(payment(id)).isEqualTo("REFUNDED");
    assertThat(openRows(id)).hasSize(2);
  }

  @Test
  void aChargeThatWasRefundedBeforeItsReportPaysForNothing() {
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    report(id, "REFUNDED c 9900");

    assertThat(reason(report(id, "CHARGED c 9900"))).isEqualTo("CONTRADICTED");
    assertThat(status(id)).isEqualTo("CONFIRMED");
    assertThat(report(id, "CHARGED d 9900").status()).isEqualTo(200);
    assertThat(status(id)).isEqualTo("PAID");
  }

  @Test
  void aChargeThatAnOperatorHasDealtWithPaysForNothing() {
    OrderId stored = order(SoldBy.REDIS, "CONFIRMED");
    moveAway(stored);
    report(stored, "CHARGED c 9900");
    close(list("OPEN").get(0).path("id").longValue(), "refunded at the provider");
    moveBack(stored);

    consumer.bean(ChargeReports.class).sweep();
    Answer repeated = report(stored, "CHARGED c 9900");

    assertThat(reason(repeated)).isEqualTo("CONTRADICTED");
    assertThat(status(stored)).isEqualTo("CONFIRMED");
    assertThat(list("OPEN")).isEmpty();
  }

  @Test
  void theRefundOfAnUnexplainedChargeClosesItsRow() {
    OrderId id = order(SoldBy.REDIS, "PAID");
    report(id, "CHARGED c 9900");
    assertThat(openRows(id)).hasSize(1);
    report(id, "REFUNDED c 9800");
    assertThat(openRows(id)).filteredOn(row -> row.contains(" CHARGED ")).hasSize(1);
    consumer.update("DELETE FROM unexplained_charge WHERE kind = 'REFUNDED'");

    assertThat(report(id, "REFUNDED c 9900").status()).isEqualTo(200);
    assertThat(report(id, "REFUNDED c 9900").status()).isEqualTo(200);

    assertThat(list("OPEN")).isEmpty();
    assertThat(list("CLOSED"))
        .singleElement()
        .extracting(row -> row.path("closedBy").stringValue())
        .isEqualTo("payment-provider");
  }

  @Test
  void theRefundOfAChargeOfAnUnknownOrderClosesItsRow() {
    OrderId id = order(SoldBy.REDIS, "NOT_STORED");
    report(id, "CHARGED c 9900");

    assertThat(report(id, "REFUNDED c 9900").status()).isEqualTo(200);

    assertThat(openRows(id)).isEmpty();
  }

  /** The row from before the order was stored is still there. */
  @Test
  void theRefundOfAChargeThatHasPaidForAnOrderStoredSinceIsForAnOperator() {
    OrderId stored = order(SoldBy.REDIS, "CONFIRMED");
    moveAway(stored);
    report(stored, "CHARGED c 9900");
    moveBack(stored);
    assertThat(report(stored, "CHARGED c 9900").status()).isEqualTo(200);

    Answer refunded = report(stored, "REFUNDED c 9900");
    consumer.bean(ChargeReports.class).sweep();

    assertThat(reason(refunded)).isEqualTo("REFUNDED_BY_PROVIDER");
    assertThat(openRows(stored))
        .containsExactly("REFUNDED_BY_PROVIDER REFUNDED c-" + stored + " 9900");
  }

  @Test
  void operatorsListAndCloseRows() {
    OrderId id = order(SoldBy.REDIS, "PAID");
    report(id, "CHARGED c 9900");
    report(id, "CHARGED d 6000");
    Answer first = api.get(ROWS + "?state=OPEN&limit=1");
    long row = first.body().path("charges").get(0).path("id").longValue();

    Answer closed = close(row, "refunded by hand");
    Answer again = close(row, "something else");

    assertThat(first.number("next")).isEqualTo(row);
    assertThat(closed.text("state")).isEqualTo("CLOSED");
    assertThat(closed.text("closedBy")).isEqualTo("tester");
    assertThat(closed.text("closedReason")).isEqualTo("refunded by hand");
    assertThat(closed.text("orderId")).isEqualTo(id.toString());
    assertThat(closed.text("orderStatus")).isEqualTo("PAID");
    assertThat(closed.text("paymentState")).isEqualTo("CHARGED");
    assertThat(again.body()).isEqualTo(closed.body());
    assertThat(list("OPEN")).singleElement().matches(r -> r.path("id").longValue() > row);
    assertThat(api.get(ROWS + "?state=OPEN&after=" + row).body().path("charges").size())
        .isEqualTo(1);
    assertThat(close(row, "").field()).isEqualTo("reason");
    assertThat(api.get(ROWS + "?state=MAYBE").field()).isEqualTo("state");
    assertThat(close(987_654_321, "x").code()).isEqualTo("UNKNOWN_CHARGE");
  }

  @Test
  void ofTwoChargesAtOnceOnePaysAndTheOtherIsSeen() {
    for (int i = 0; i < 10; i++) {
      OrderId id = order(i % 2 == 0 ? SoldBy.REDIS : SoldBy.STRONG_SALE, "CONFIRMED");

      Races.race(List.of(() -> report(id, "CHARGED c 9900"), () -> report(id, "CHARGED d 9900")));

      assertThat(status(id)).isEqualTo("PAID");
      String other = chargeOf(id).startsWith("c") ? "d-" : "c-";
      assertThat(openRows(id)).containsExactly("SECOND_CHARGE CHARGED " + other + id + " 9900");
    }
  }

  @Test
  void ofTwoOrdersWithOneChargeAtOnceOneIsPaid() {
    for (int i = 0; i < 10; i++) {
      OrderId one = order(SoldBy.REDIS, "CONFIRMED");
      OrderId two = order(SoldBy.REDIS, "CONFIRMED");
      String charge = "race-" + one;

      Races.race(
          List.of(
              () -> callback(body("e", one, "CHARGED", charge, PRICE)),
              () -> callback(body("f", two, "CHARGED", charge, PRICE))));

      assertThat(List.of(status(one), status(two))).containsExactlyInAnyOrder("PAID", "CONFIRMED");
      OrderId unpaid = status(one).equals("PAID") ? two : one;
      assertThat(openRows(unpaid))
          .containsExactly("CHARGE_OF_OTHER_ORDER CHARGED " + charge + " 9900");
    }
  }

  @Test
  void ofAPaymentAndAReportAtOnceEveryChargeIsKeptOrSeen() {
    for (int i = 0; i < 10; i++) {
      OrderId id = order(SoldBy.REDIS, "CONFIRMED");

      Races.race(List.of(() -> pay(id), () -> report(id, "CHARGED c 9900")));

      assertThat(status(id)).isEqualTo("PAID");
      List<String> taken = new ArrayList<>(List.of("c-" + id));
      if (isChargedAtProvider(id)) {
        taken.add("sim-" + id);
      }
      taken.remove(chargeOf(id));
      assertThat(openRows(id))
          .containsExactlyElementsOf(
              taken.stream().map(c -> "SECOND_CHARGE CHARGED " + c + " 9900").toList());
    }
  }

  @ParameterizedTest
  @EnumSource(SoldBy.class)
  void ofACancelAndAReportAtOnceTheMoneyIsKeptOrRefunded(SoldBy soldBy) {
    for (int i = 0; i < 10; i++) {
      OrderId id = order(soldBy, "CONFIRMED");

      Races.race(List.of(() -> cancel(id), () -> report(id, "CHARGED c 9900")));

      boolean isPaid = status(id).equals("PAID");
      assertThat(payment(id)).isEqualTo(isPaid ? "CHARGED" : "REFUNDED");
      assertThat(openRows(id)).isEmpty();
    }
  }

  @Test
  void pendingWorkIsCountedWithItsAge() {
    ExpirySweep.by(consumer);
    consumer.update("DELETE FROM compensation");
    consumer.update("DELETE FROM payment WHERE state = 'REFUND_DUE'");
    OrderId overdue = order(SoldBy.REDIS, "CONFIRMED");
    orders.age(overdue, 1_800 + 50);
    report(overdue, "CHARGED c 6000");
    age("unexplained_charge", "received_at", "order_id", overdue, 300);
    OrderId ended = order(SoldBy.STRONG_SALE, "EXPIRED");
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, state, check_at)"
            + " VALUES (?, 9900, 'REFUND_DUE', NOW(6))",
        ended.value());
    age("payment", "updated_at", "order_id", ended, 100);
    PaymentTable payments = consumer.bean(PaymentTable.class);
    assertThat(payments.claim(ended)).isTrue();
    assertThat(payments.claim(ended)).as("another process looks at it").isFalse();
    consumer.update(
        "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units,"
            + " created_at) VALUES (?, 999999, 7, 1, 1, 0, NOW(6) - INTERVAL 200 SECOND)",
        ended.value());

    PendingWork work = consumer.bean(PendingWork.class);
    work.read();

    Map.of(
            WorkKind.EXPIRIES, 50L,
            WorkKind.REFUNDS, 100L,
            WorkKind.COMPENSATIONS, 200L,
            WorkKind.UNEXPLAINED_CHARGES, 300L)
        .forEach(
            (kind, age) -> {
              String answer = api.get("/internal/v1/pending-work").text();
              assertThat(work.now().get(kind).number()).as("%s %s", kind, answer).isEqualTo(1);
              assertThat(work.now().get(kind).oldestSeconds()).isBetween(age, age + 60);
              String name = "seckill.consumer.pending";
              assertThat(consumer.gauge(name, "work", kind.name())).isEqualTo(1);
              assertThat(consumer.gauge(name + ".age", "work", kind.name()))
                  .isBetween((double) age, age + 60.0);
            });
    age("compensation", "created_at", "order_id", ended, -3_600);
    work.read();
    assertThat(work.now().get(WorkKind.COMPENSATIONS).oldestSeconds())
        .as("MySQL's clock was set back")
        .isBetween(3_540L, 3_660L);
    consumer.update("DELETE FROM compensation WHERE order_id = ?", ended.value());
  }

  @Test
  void anArchiveThatWaitsForItsTurnDoesNotStandStill() {
    for (int minutesAgo : List.of(0, 20)) {
      consumer.update(
          "INSERT INTO archive (sku_id, phase, started_by, started_at, stepped_at) VALUES"
              + " (?, 'REDIS', 'a', NOW(6) + INTERVAL 1 HOUR, NOW(6) - INTERVAL ? MINUTE)",
          999_000 + minutesAgo,
          minutesAgo);
    }

    PendingWork work = consumer.bean(PendingWork.class);
    work.read();

    assertThat(work.now().get(WorkKind.ARCHIVES).number()).isEqualTo(2);
    assertThat(work.now().get(WorkKind.ARCHIVES).oldestSeconds()).isLessThan(60);
    consumer.update("UPDATE archive SET stepped_at = NOW(6) - INTERVAL 16 MINUTE");
    work.read();
    assertThat(work.now().get(WorkKind.ARCHIVES).oldestSeconds()).isBetween(960L, 1_020L);
    consumer.update("UPDATE archive SET stepped_at = NOW(6) + INTERVAL 1 HOUR");
    work.read();
    assertThat(work.now().get(WorkKind.ARCHIVES).oldestSeconds()).isLessThan(60);
    consumer.update("DELETE FROM archive");
  }

  private static String chargeOf(OrderId id) {
    return text("SELECT charge_id FROM payment WHERE order_id = ?", id, "-");
  }

  private static boolean isChargedAtProvider(OrderId id) {
    return text("SELECT state FROM simulated_charge WHERE order_id = ?", id, "-").equals("CHARGED");
  }
}
