package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.payment.LateProvider.Next;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A charge that the provider books after it left the request unanswered pays the order or is
 * refunded.
 */
@ExtendWith(TestServers.class)
class LatePaymentsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(7001);
  private static final long TIMEOUT_SECONDS = 1_800;
  private static final int THREADS = 32;
  private static final String SECRET = "secret-of-the-provider-0123456789abcdef";

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.demo.enabled", "false",
              "seckill.payment.callback-secret", SECRET,
              "server.tomcat.threads.max", "" + THREADS,
              // The tests call the sweep themselves.
              "pause.expirySweeper", "1h",
              "pause.paymentSweeper", "1h"),
          LateProvider.class);

  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);
  private static final LateProvider provider = consumer.bean(LateProvider.class);

  private final long sku = NEXT_SKU.getAndIncrement();
  private OrderId id;

  @BeforeEach
  void order() {
    new Sales(consumer).open(sku, "LIMITED", 2, 10);
    id = orders.confirmed(sku, 7, 1);
    provider.setUnavailable(false);
  }

  @Test
  void aChargeBookedAfterALookFoundNothingIsRefundedOnceTheOrderHasExpired() {
    provider.answer(Next.NO_ANSWER);
    assertThat(pay().status()).isEqualTo(503);
    lookAgain();
    expire();

    provider.book(id);
    lookAgain();

    assertThat(orders.status(id)).isEqualTo("EXPIRED");
    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(provider.hasMoneyOf(id)).isFalse();
  }

  @Test
  void theFirstOfTwoAttemptsIsRefundedAlthoughTheSecondWasDeclined() {
    provider.answer(Next.NO_ANSWER, Next.DECLINED);
    assertThat(pay().status()).isEqualTo(503);
    assertThat(pay().code()).isEqualTo("PAYMENT_DECLINED");
    expire();

    provider.book(id);
    lookAgain();

    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(provider.hasMoneyOf(id)).isFalse();
  }

  @Test
  void theDelayOfBookingsBeginsWithTheLastAttempt() {
    provider.answer(Next.DECLINED, Next.NO_ANSWER);
    pay();
    ageCharge(LateProvider.LONGEST_DELAY);
    assertThat(pay().status()).isEqualTo(503);
    expire();
    lookAgain();

    provider.book(id);
    lookAgain();

    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(provider.hasMoneyOf(id)).isFalse();
  }

  @Test
  void aChargeBookedWhileTheOrderWaitsPaysForIt() {
    provider.answer(Next.NO_ANSWER, Next.DECLINED);
    pay();
    pay();
    lookAgain();
    assertThat(orders.status(id)).isEqualTo("CONFIRMED");

    provider.book(id);
    lookAgain();

    assertThat(orders.status(id)).isEqualTo("PAID");
    assertThat(payment()).isEqualTo("CHARGED");
    assertThat(provider.hasMoneyOf(id)).isTrue();
    assertNeverLookedAtAgain();
  }

  @Test
  void aChargeBookedAfterTheRefundIsRefundedAndTheLooksEnd() {
    provider.answer(Next.NO_ANSWER);
    pay();
    expire();
    lookAgain();
    assertThat(payment()).isEqualTo("REFUNDED");

    provider.book(id);
    lookAgain();

    assertThat(provider.hasMoneyOf(id)).isFalse();
    assertThat(payment()).isEqualTo("REFUNDED");
    ageCharge(LateProvider.LONGEST_DELAY);
    lookAgain();
    assertNeverLookedAtAgain();
  }

  @Test
  void aCancelRefundsAtTheNextSweep() {
    provider.answer(Next.NO_ANSWER);
    pay();
    provider.book(id);
    consumer.api().cancel(id, 7);

    consumer.bean(PaymentSweep.class).sweep();

    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(provider.hasMoneyOf(id)).isFalse();
  }

  @Test
  void aRefundStaysDueWhileTheProviderIsAway() {
    provider.answer(Next.NO_ANSWER);
    pay();
    expire();
    lookAgain();
    provider.book(id);
    provider.setUnavailable(true);
    LoggedLines lines = LoggedLines.of(Payments.class.getPackageName());
    assertThat(callback("evt-" + id).text("status")).isEqualTo("EXPIRED");
    assertThat(payment()).isEqualTo("REFUND_DUE");
    lookAgain();
    assertThat(payment()).isEqualTo("REFUND_DUE");
    lines.close();
    assertThat(lines.texts())
        .filteredOn(line -> line.contains("PaymentUnavailableException: away"))
        .as("lines, a moment after the line of the charge")
        .isNotEmpty()
        .allMatch(line -> line.startsWith("order " + id + ": "));

    provider.setUnavailable(false);
    lookAgain();

    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(provider.hasMoneyOf(id)).isFalse();
  }

  /** MySQL's clock was set back since the charge was requested, and perhaps a refund due. */
  @ParameterizedTest
  @CsvSource({"false, CHARGED", "true, REFUNDED"})
  void aCheckOfAnHourAheadIsMadeByTheNextSweep(boolean hasExpired, String state) {
    provider.answer(Next.NO_ANSWER);
    pay();
    if (hasExpired) {
      expire();
    }
    provider.book(id);
    consumer.update(
        "UPDATE payment SET asked_at = asked_at + INTERVAL 1 HOUR,"
            + " updated_at = NOW(6) + INTERVAL 1 HOUR, check_at = NOW(6) + INTERVAL 1 HOUR"
            + " WHERE order_id = ?",
        id.value());

    consumer.sweep("paymentSweeper");

    assertThat(payment()).isEqualTo(state);
    assertThat(provider.hasMoneyOf(id)).isEqualTo(!hasExpired);
    assertThat(consumer.bean(PaymentTable.class).claim(id)).as("once").isFalse();
  }

  @Test
  void theChargeOfAnArchivedOrderIsRefundedIfTheOrderHadEnded() {
    expire();
    archiveAndCharge();

    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(provider.hasMoneyOf(id)).isFalse();
    assertThat(unexplained()).isZero();
  }

  @Test
  void aSecondChargeOfAnArchivedOrderIsShownToAnOperator() {
    callback("evt-" + id);
    consumer.update("UPDATE payment SET charge_id = 'other' WHERE order_id = ?", id.value());
    archiveAndCharge();

    assertThat(provider.hasMoneyOf(id)).isTrue();
    assertThat(unexplained()).isOne();
  }

  /** As a request that has read the order before its archive. */
  private void archiveAndCharge() {
    orders.archive(id);
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, state, check_at)"
            + " VALUES (?, 9900, 'STARTED', NOW(6))",
        id.value());
    provider.book(id);
    lookAgain();
  }

  private long unexplained() {
    return consumer.number(
        "SELECT COUNT(*) FROM unexplained_charge WHERE order_id = ? AND reason = 'ARCHIVED_ORDER'",
        id.value());
  }

  @Test
  void aPaymentThatTheProviderFailsForKeepsNoOtherFromItsRefund() {
    provider.answer(Next.BUG, Next.NO_ANSWER);
    assertThat(pay().status()).isEqualTo(503);
    provider.breakFor(id);
    OrderId broken = id;
    id = orders.confirmed(sku, 7, 1);
    pay();
    expire();
    provider.book(id);

    makeDue(broken, "1 HOUR");
    lookAgain();

    assertThat(payment()).isEqualTo("REFUNDED");
    assertThat(orders.status(broken)).isEqualTo("CONFIRMED");
  }

  @Test
  void paymentsThatWaitForTheProviderKeepNobodyElseWaiting() {
    provider.stalls();
    ExecutorService shoppers = Executors.newFixedThreadPool(THREADS + 8);
    try {
      List<Future<Answer>> payments =
          Stream.generate(() -> shoppers.submit(this::pay)).limit(THREADS + 8).toList();
      eventually().until(() -> payments.stream().filter(Future::isDone).count() >= THREADS / 2);
      Answer refused = pay();

      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.code()).isEqualTo("BUSY");
      for (String path :
          List.of(
              "/actuator/health/liveness",
              "/actuator/prometheus",
              "/internal/v1/fallback",
              "/internal/v1/skus/" + sku + "/ledger")) {
        assertThat(consumer.api().get(path).status()).as(path).isEqualTo(200);
      }
      assertThat(
              consumer
                  .api()
                  .put(
                      "/internal/v1/gateways/" + "a".repeat(32),
                      "{\"name\":\"g\",\"fallback\":\"off\",\"term\":0,\"redis\":\"USABLE\","
                          + "\"forMs\":0,\"breaker\":\"CLOSED\",\"failurePercent\":0,"
                          + "\"failuresPerSecond\":0}")
                  .status())
          .as("a heartbeat")
          .isEqualTo(200);
      assertThat(callback("evt-" + id).text("status")).isEqualTo("PAID");
    } finally {
      provider.continues();
      shoppers.shutdownNow();
    }
  }

  private Answer pay() {
    return consumer.api().pay(id, 7);
  }

  private Answer callback(String eventId) {
    String body =
        """
        {"eventId":"%s","type":"CHARGED","orderId":"%s","chargeId":"late-%s","amountCents":9900}\
        """
            .formatted(eventId, id, id);
    return SignedCallback.now(SECRET, body).postTo(consumer.api());
  }

  private void expire() {
    orders.age(id, TIMEOUT_SECONDS);
    ExpirySweep.by(consumer);
    assertThat(orders.status(id)).isEqualTo("EXPIRED");
  }

  /** Makes the next check of the payment due and runs the sweep. */
  private void lookAgain() {
    makeDue(id, "0 SECOND");
    consumer.sweep("paymentSweeper");
  }

  private static void makeDue(OrderId order, String since) {
    consumer.update(
        "UPDATE payment SET check_at = NOW(6) - INTERVAL "
            + since
            + " WHERE order_id = ? AND check_at IS NOT NULL",
        order.value());
  }

  private void ageCharge(Duration age) {
    consumer.update(
        "UPDATE payment SET asked_at = asked_at - INTERVAL ? SECOND WHERE order_id = ?",
        age.toSeconds(),
        id.value());
  }

  private void assertNeverLookedAtAgain() {
    int calls = provider.calls(id);
    lookAgain();
    assertThat(provider.calls(id)).isEqualTo(calls);
  }

  private String payment() {
    return consumer.text("SELECT state FROM payment WHERE order_id = ?", id.value());
  }
}
