package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.payment.PendingWork.WorkKind;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;
import tools.jackson.databind.JsonNode;

/**
 * Every report of the provider about money ends in a paid order, a refund, or a row for an
 * operator.
 */
@ExtendWith(TestServers.class)
class ChargeReportsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(15_001);
  private static final AtomicLong NEXT_EVENT = new AtomicLong();
  private static final String SECRET = "secret-of-the-provider-0123456789abcdef";
  private static final String ROWS = "/internal/v1/unexplained-charges";
  private static final int PRICE = 9_900;

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.payment.callback-secret", SECRET,
              // The tests call the sweeps themselves.
              "pause.expirySweeper", "1h",
              "pause.paymentSweeper", "1h",
              "pause.chargeReportSweeper", "1h",
              "pause.compensationSweeper", "1h",
              "pause.pendingWorkSweeper", "1h"));

  private static final InternalApi api = consumer.api();
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  private final long sku = NEXT_SKU.getAndIncrement();

  @BeforeEach
  void noRows() {
    consumer.update("DELETE FROM unexplained_charge");
  }

  /** What decides the sale of the order. */
  enum SoldBy {
    REDIS,
    STRONG_SALE,
    FALLBACK
  }

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

  /** {@code PaymentCallbackBodyTest} tries the values of each member. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "not JSON",
        "{}",
        "{'eventId':'e','type':'DISPUTED','orderId':'ORDER','chargeId':'c','amountCents':9900}"
      })
  void aSignedReportThatCannotBeReadIsKept(String text) {
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    String body = text.replace('\'', '"').replace("ORDER", id.toString());

    Answer refused = callback(body);
    callback(body);

    assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    assertThat(list("OPEN"))
        .singleElement()
        .satisfies(
            row -> {
              assertThat(row.path("reason").stringValue()).isEqualTo("UNREADABLE");
              assertThat(row.path("detail").stringValue()).isEqualTo(body);
            });
  }

  @Test
  void theBeginningOfALongUnreadableReportIsKept() {
    callback("{\"note\":\"" + "\u20ac".repeat(2_000) + "\"}");

    assertThat(list("OPEN").get(0).path("detail").stringValue()).hasSizeBetween(900, 1_000);
  }

  @ParameterizedTest
  @CsvSource({
    "Content-Type, text/plain",
    "Content-Type, application/vnd.acme+json",
    "Content-Type, ''",
    "Content-Type, multipart/form-data",
    "Accept, application/xml",
    "Accept, foo"
  })
  void aSignedReportCountsWithAnyMediaType(String header, String type) {
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    String body = body("evt-" + id, id, "CHARGED", "c-" + id, PRICE);

    assertThat(callback(api.with(header, type), body).status()).isEqualTo(200);

    assertThat(status(id)).isEqualTo("PAID");
  }

  /** They need no secret until their bodies are whole. */
  @Tag("proof")
  @Test
  void sendersThatAreSlowKeepNoReportWaiting() throws IOException {
    double refused = consumer.counter("seckill.consumer.payment.callbacks.refused");
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        slow.add(beginCallback("Content-Length: 100"));
      }
      slow.add(beginCallback("Connection: close\r\nContent-Length: 100"));
      slow.add(beginCallback("Transfer-Encoding: chunked"));

      for (int i = 0; i < 20; i++) {
        Answer answer = report(id, "CHARGED c 9900");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      }

      Socket whole = beginCallback("Content-Length: 100"); // last: its time runs from here
      slow.add(whole);
      whole.getOutputStream().write(" ".repeat(99).getBytes(StandardCharsets.US_ASCII));
      assertThat(firstLine(whole)).as("whole in time, and not signed").contains(" 401");
      for (Socket one : slow.subList(0, slow.size() - 1)) {
        assertThat(firstLine(one)).as("never whole").contains(" 503");
      }
    } finally {
      for (Socket one : slow) {
        one.close();
      }
    }
    assertThat(consumer.counter("seckill.consumer.payment.callbacks.refused"))
        .isEqualTo(refused + slow.size());
  }

  /** Or a sender of many who reads no answer would keep the thread that writes. */
  @Test
  void aSenderOfCallbacksGetsOneAnswerPerConnection() throws IOException {
    try (Socket sender = beginCallback("Content-Length: 1")) {
      assertThat(new String(sender.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .startsWith("HTTP/1.1 401");
    }
  }

  /** With the first byte of its body, which may be a chunk of its own. */
  private static Socket beginCallback(String headers) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), consumer.port());
    socket.setSoTimeout(30_000);
    String request =
        "POST /internal/v1/payments/callback HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n%s"
            .formatted(headers, headers.contains("chunked") ? "1\r\n{\r\n" : "{");
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    return socket;
  }

  private static String firstLine(Socket socket) throws IOException {
    return new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
        .readLine();
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

  @ParameterizedTest
  @ValueSource(strings = {"CONFIRMED PAID CHARGED", "REJECTED REJECTED REFUNDED"})
  void aReportThatCameBeforeItsOrderIsJudgedOnceTheOrderIsStored(String expected) {
    String[] words = expected.split(" ", -1);
    OrderId stored = order(SoldBy.REDIS, words[0]);
    moveAway(stored);
    report(stored, "CHARGED c 9900");
    consumer.bean(ChargeReports.class).sweep();
    assertThat(openRows(stored)).hasSize(1);

    moveBack(stored);
    consumer.sweep("chargeReportSweeper");

    assertThat(status(stored)).isEqualTo(words[1]);
    assertThat(payment(stored)).isEqualTo(words[2]);
    assertThat(list(null)).isEmpty();
  }

  /** As when another transaction has locked a row. */
  @Test
  void aReportThatCannotBeJudgedNowKeepsNoOtherWaiting() {
    OrderId waiting = order(SoldBy.REDIS, "CONFIRMED");
    OrderId next = order(SoldBy.REDIS, "CONFIRMED");
    List.of(waiting, next).forEach(ChargeReportsIT::moveAway);
    report(waiting, "CHARGED c 6000");
    report(next, "CHARGED c 9900");
    List.of(waiting, next).forEach(ChargeReportsIT::moveBack);
    ChargeReports real = consumer.bean(ChargeReports.class);
    TransactionOperations locked =
        new TransactionOperations() {
          @Override
          public <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
            throw new CannotAcquireLockException("for the test");
          }
        };

    new ChargeReports(real.orders(), real.payments(), real.unexplained(), locked).sweep();

    assertThat(status(next)).isEqualTo("PAID");
    assertThat(openRows(waiting)).hasSize(1);
    assertThat(openRows(next)).isEmpty();
  }

  @Test
  void aReportThatCameBeforeItsOrderStaysOpenWhenItDoesNotFit() {
    OrderId stored = order(SoldBy.REDIS, "CONFIRMED");
    moveAway(stored);
    report(stored, "CHARGED c 6000");
    moveBack(stored);

    consumer.bean(ChargeReports.class).sweep();
    consumer.bean(ChargeReports.class).sweep();

    assertThat(status(stored)).isEqualTo("CONFIRMED");
    assertThat(openRows(stored)).containsExactly("OTHER_AMOUNT CHARGED c-" + stored + " 6000");
  }

  @ParameterizedTest
  @ValueSource(strings = {"REFUNDED c 9900", "CHARGED c 6000", "CHARGED c 9900 USD"})
  void aChargeThatWasReportedDifferentlyBeforeItsOrderPaysForNothing(String earlier) {
    OrderId stored = order(SoldBy.REDIS, "CONFIRMED");
    moveAway(stored);
    report(stored, earlier);
    moveBack(stored);

    Answer charged = report(stored, "CHARGED c 9900");
    consumer.bean(ChargeReports.class).sweep();

    assertThat(reason(charged)).isEqualTo("CONTRADICTED");
    assertThat(status(stored)).isEqualTo("CONFIRMED");
    boolean isRefunded = earlier.startsWith("REFUNDED");
    assertThat(openRows(stored)).hasSize(isRefunded ? 0 : 2);
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
  void ofAnArchivedOrderOnlyTheChargeThatPaidForItIsExplained() {
    OrderId id = order(SoldBy.REDIS, "PAID");
    orders.archive(id);

    Answer own = report(id, "CHARGED sim 9900");
    Answer second = report(id, "CHARGED c 9900");

    assertThat(own.status()).as(own.text()).isEqualTo(200);
    assertThat(second.status()).as(second.text()).isEqualTo(202);
    assertThat(reason(second)).isEqualTo("ARCHIVED_ORDER");
    assertThat(openRows(id)).containsExactly("ARCHIVED_ORDER CHARGED " + charge(id, "c") + " 9900");
    JsonNode row = list("OPEN").get(0);
    assertThat(row.path("orderStatus").stringValue()).isEqualTo("PAID");
    assertThat(row.path("paymentState").stringValue()).isEqualTo("CHARGED");
  }

  @Test
  void aRefundedChargeOfAnArchivedOrderIsExplained() {
    OrderId id = order(SoldBy.REDIS, "CANCELLED");
    report(id, "CHARGED c 9900");
    orders.archive(id);

    Answer repeated = report(id, "CHARGED c 9900");

    assertThat(repeated.status()).as(repeated.text()).isEqualTo(200);
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

  private OrderId order(SoldBy soldBy, String status) {
    Sales sales = new Sales(consumer);
    long own = soldBy == SoldBy.STRONG_SALE ? sku + 100_000 : sku;
    if (consumer.number("SELECT COUNT(*) FROM products WHERE sku_id = ?", own) == 0) {
      if (soldBy == SoldBy.STRONG_SALE) {
        sales.openStrong(own, "UNLIMITED", 0, 1_000);
      } else {
        sales.open(own, "UNLIMITED", 0, 1_000);
      }
    }
    OrderId id =
        soldBy == SoldBy.STRONG_SALE ? orders.strong(own, 7, 1) : orders.confirmed(own, 7, 1);
    if (soldBy == SoldBy.FALLBACK) {
      consumer.update(
          "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE' WHERE sku_id = ?", own);
    }
    switch (status) {
      case "CONFIRMED" -> {}
      case "PAID" -> assertThat(pay(id).status()).isEqualTo(200);
      case "CANCELLED" -> cancel(id);
      case "EXPIRED" -> {
        orders.age(id, 1_801);
        consumer.bean(Expiry.class).expire(List.of(id));
      }
      case "REJECTED" ->
          consumer.update("UPDATE orders SET status = 'REJECTED' WHERE order_id = ?", id.value());
      case "NOT_STORED" -> consumer.update("DELETE FROM orders WHERE order_id = ?", id.value());
      default -> throw new IllegalArgumentException(status);
    }
    assertThat(status(id)).isEqualTo(status);
    return id;
  }

  /** An order that is not stored yet, because it is on its way or a dead letter. */
  private static void moveAway(OrderId id) {
    move(id.value(), -id.value());
  }

  private static void moveBack(OrderId id) {
    move(-id.value(), id.value());
  }

  private static void move(long from, long to) {
    consumer.update("UPDATE orders SET order_id = ? WHERE order_id = ?", to, from);
  }

  private static Answer pay(OrderId id) {
    return api.pay(id, 7);
  }

  private static Answer cancel(OrderId id) {
    return api.cancel(id, 7);
  }

  private static Answer close(long row, String reason) {
    return api.post(ROWS + "/" + row + "/close", "{\"reason\":\"" + reason + "\"}");
  }

  /**
   * @param report type, charge, amount and perhaps currency
   */
  private static Answer report(OrderId id, String report) {
    String[] words = report.split(" ", -1);
    String event = "evt-" + NEXT_EVENT.incrementAndGet();
    String body = body(event, id, words[0], charge(id, words[1]), Long.parseLong(words[2]));
    return callback(
        words.length < 4 ? body : body.replace("}", ",\"currency\":\"" + words[3] + "\"}"));
  }

  private static String reason(Answer answer) {
    return answer.body().path("reason").asString("-");
  }

  private static String charge(OrderId id, String name) {
    return name + "-" + id;
  }

  private static String body(String event, OrderId id, String type, String charge, long amount) {
    return """
    {"eventId":"%s","type":"%s","orderId":"%s","chargeId":"%s","amountCents":%d}\
    """
        .formatted(event, type, id, charge, amount);
  }

  private static Answer callback(String body) {
    return callback(api, body);
  }

  private static Answer callback(InternalApi sender, String body) {
    String now = Long.toString(Instant.now().getEpochSecond());
    return sender
        .with("Authorization", "")
        .with("X-Payment-Timestamp", now)
        .with(
            "X-Payment-Signature",
            consumer.bean(CallbackSignature.class).sign(now, body.getBytes(StandardCharsets.UTF_8)))
        .post("/internal/v1/payments/callback", body);
  }

  private static List<JsonNode> list(String state) {
    return api.get(ROWS + (state == null ? "" : "?state=" + state))
        .body()
        .path("charges")
        .valueStream()
        .toList();
  }

  private static List<String> openRows(OrderId id) {
    return list("OPEN").stream()
        .filter(row -> row.path("orderId").stringValue().equals(id.toString()))
        .map(
            row ->
                String.join(
                    " ",
                    row.path("reason").stringValue(),
                    row.path("kind").stringValue(),
                    row.path("chargeId").stringValue(),
                    row.path("amountCents").toString()))
        .toList();
  }

  private static String status(OrderId id) {
    return text("SELECT status FROM orders WHERE order_id = ?", id, "NOT_STORED");
  }

  private static String payment(OrderId id) {
    return text("SELECT state FROM payment WHERE order_id = ?", id, "-");
  }

  private static String chargeOf(OrderId id) {
    return text("SELECT charge_id FROM payment WHERE order_id = ?", id, "-");
  }

  private static boolean isChargedAtProvider(OrderId id) {
    return text("SELECT state FROM simulated_charge WHERE order_id = ?", id, "-").equals("CHARGED");
  }

  private static String text(String sql, OrderId id, String otherwise) {
    return consumer.textOr(otherwise, sql, id.value());
  }

  private static void age(String table, String column, String key, OrderId id, int seconds) {
    consumer.update(
        "UPDATE "
            + table
            + " SET "
            + column
            + " = NOW(6) - INTERVAL ? SECOND WHERE "
            + key
            + " = ?",
        seconds,
        id.value());
  }
}
