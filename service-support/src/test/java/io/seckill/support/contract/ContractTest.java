package io.seckill.support.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.HeartbeatAnswer;
import io.seckill.support.contract.Heartbeat.RedisView;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderPayments.PaymentOutcomes;
import io.seckill.support.contract.PromiseTransfer.Admitted;
import io.seckill.support.contract.PromiseTransfer.Forgotten;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.support.contract.StrongPurchases.Decisions;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletBalance.WalletStateRequest;
import io.seckill.support.contract.WalletEntries.WalletEntryRow;
import io.seckill.support.contract.WalletOperations.WalletOutcomes;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.support.web.StrictJson;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both sides of the internal port read what the other one writes. */
class ContractTest {

  private static final OrderMessage ORDER = order(null);
  private static final Instant TIME = Instant.parse("2026-11-21T10:00:00.123Z");
  private static final OrderPayment PAYMENT = new OrderPayment(ORDER.orderId(), 7);
  private static final OrderRow ROW =
      new OrderRow(
          ORDER.orderId(),
          7,
          1_001,
          2,
          9_900,
          "key-00000001",
          OrderStatus.REJECTED,
          RejectReason.SOLD_OUT,
          TIME,
          TIME,
          TIME);

  static Stream<Record> records() {
    return Stream.of(
        new Shopper(7),
        new LostAdmissions(3, 17),
        new StateRequest("PAUSED"),
        new Heartbeat(
            "gateway:8080",
            FallbackMode.AUTOMATIC,
            2,
            RedisView.UNUSABLE,
            5,
            BreakerState.HALF_OPEN,
            50,
            3),
        new WalletOperations(
            List.of(
                new WalletOperation(7, WalletKind.CHARGE, "key-00000001", 5, 17L, null),
                new WalletOperation(7, WalletKind.ADJUST, "key-00000002", -5, null, "typo"))),
        new WalletOutcomes(
            List.of(
                new WalletOutcome(WalletCode.DONE, 3L, 95L),
                WalletOutcome.of(WalletCode.INSUFFICIENT_FUNDS))),
        new WalletStateRequest("ACTIVE"),
        new HeartbeatAnswer(2, 50, 3, 1L),
        new HeartbeatAnswer(2, 50, 3, null),
        new PromiseTransfer(
            2,
            List.of(ORDER),
            List.of(new Admitted(1_001, 3, 5)),
            List.of(new Forgotten(1_002, 4)),
            true,
            false),
        new StrongPurchases(List.of(new StrongPurchase(1, 7, "key-00000001", 2, null))),
        new Decisions(
            List.of(
                StrongDecision.confirmed(ORDER.orderId()), StrongDecision.of(Outcome.SOLD_OUT))),
        new OrderPayments(List.of(PAYMENT)),
        new PaymentOutcomes(
            List.of(
                new PaymentOutcome(ORDER.orderId(), ROW, false),
                new PaymentOutcome(ORDER.orderId(), null, true))),
        ROW);
  }

  @ParameterizedTest
  @MethodSource("records")
  void readsWhatItWrites(Record written) {
    byte[] json = StrictJson.MAPPER.writeValueAsBytes(written);

    assertThat(StrictJson.read(json, written.getClass())).isEqualTo(written);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'payments':[]}",
        "{'payments':[null]}",
        "{'payments':[{'userId':7}]}",
        "{'payments':[{'orderId':'7'}]}",
        "{'payments':[{'orderId':7,'userId':7}]}",
        "{'payments':[{'orderId':'-7','userId':7}]}",
        "{'payments':[{'orderId':'7','userId':0}]}",
        "{'payments':[{'orderId':'7','userId':'7'}]}",
        "{'payments':[{'orderId':'7','userId':7},{}]}",
      })
  void aListWithAPaymentThatIsNoneIsRefused(String body) {
    assertThatThrownBy(
            () -> StrictJson.read(body.replace('\'', '"').getBytes(UTF_8), OrderPayments.class))
        .hasMessageStartingWith("INVALID_REQUEST");
  }

  /** MySQL keeps the highest, and Redis continues from it. */
  @Test
  void noCountIsAboveThoseOfMessages() {
    long most = OrderMessage.MAX_COUNT;
    Stream<LongConsumer> counts =
        Stream.of(
            count -> new LostAdmissions(count, 1),
            count -> new LostAdmissions(1, count),
            ContractTest::heartbeat,
            count -> new PromiseTransfer(count, List.of(), List.of(), List.of(), true, true),
            count -> new Admitted(1_001, count, 1),
            count -> new Admitted(1_001, 1, count),
            count -> new Forgotten(1_001, count));

    assertThat(counts)
        .allSatisfy(
            take -> {
              take.accept(most);
              assertThatThrownBy(() -> take.accept(most + 1)).hasMessageContaining("" + most);
            });
  }

  private static Heartbeat heartbeat(long term) {
    return new Heartbeat(
        "gateway", FallbackMode.OFF, term, RedisView.USABLE, 0, BreakerState.CLOSED, 0, 0);
  }

  @Test
  void aListHasABound() {
    List<OrderPayment> most = Collections.nCopies(OrderPayments.MAX_PAYMENTS, PAYMENT);
    List<OrderPayment> more = Collections.nCopies(OrderPayments.MAX_PAYMENTS + 1, PAYMENT);

    assertThat(new OrderPayments(most).payments()).hasSize(64);
    assertThatThrownBy(() -> new OrderPayments(more)).hasMessageContaining("1 to 64");
  }

  @ParameterizedTest
  @CsvSource({
    "PAID, PAID",
    "CONFIRMED, PAYMENT_DECLINED: The payment was declined.",
    "EXPIRED, NOT_PAYABLE: An order that is EXPIRED cannot be paid.",
    "CANCELLED, NOT_PAYABLE: An order that is CANCELLED cannot be paid.",
    "REJECTED, NOT_PAYABLE: An order that is REJECTED cannot be paid.",
    ", UNKNOWN_ORDER: There is no such order",
  })
  void theStatusOfAnOrderSaysWhatBecameOfItsPayment(@Nullable OrderStatus status, String result) {
    OrderRow row =
        status == null
            ? null
            : new OrderRow(ROW.orderId(), 7, 1, 1, 1, "key", status, null, TIME, TIME, TIME);
    PaymentOutcome outcome = new PaymentOutcome(ROW.orderId(), row, false);

    if (status == OrderStatus.PAID) {
      assertThat(outcome.paid()).isEqualTo(row);
    } else {
      assertThatThrownBy(outcome::paid).hasMessage(result);
    }
  }

  @Test
  void idsAndModesAreTextAndATraceContextIsNotHandedOver() {
    OrderMessage traced = order("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

    assertThat(json(new PromiseTransfer(1, List.of(traced), List.of(), List.of(), true, true)))
        .isEqualTo(
            """
            {"term":1,"orders":[{"orderId":"%s","userId":7,"skuId":1001,"quantity":2,\
            "requestId":"key-00000001","policy":"LIMITED","epoch":3,"seq":17,"admittedAt":5}],\
            "admitted":[],"isLast":true,"isComplete":true}"""
                .formatted(traced.orderId()));
    assertThat(json(FallbackMode.AUTOMATIC)).isEqualTo("\"automatic\"");
  }

  /** Browsers read these; the gateway only passes them on. */
  @Test
  void writesIdsOfWalletsAsText() {
    WalletEntryRow entry =
        new WalletEntryRow(3, WalletKind.CHARGE, -5, 95, "key", Long.MAX_VALUE, null, TIME);

    assertThat(json(new WalletBalance(Long.MAX_VALUE, 95, "EUR", WalletState.FROZEN, 3)))
        .isEqualTo(
            """
            {"userId":"9223372036854775807","balanceCents":95,"currency":"EUR","state":"FROZEN",\
            "seq":3}""");
    assertThat(json(new WalletEntries(List.of(entry), 3L)))
        .contains("\"chargeId\":\"9223372036854775807\"", "\"next\":3");
  }

  private static String json(Object written) {
    return new String(StrictJson.MAPPER.writeValueAsBytes(written), UTF_8);
  }

  private static OrderMessage order(String traceparent) {
    OrderId id = OrderId.of(1_790_000_000_000L, 1_001 % 16, 3, 1);
    return new OrderMessage(
        id, 7, 1_001, 2, "key-00000001", PurchasePolicy.LIMITED, 3, 17, 5, traceparent);
  }
}
