package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.payment.LateProvider;
import io.seckill.consumer.payment.PaidBy;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.TransientDataAccessException;

/** A wallet's charge and the payment of its order are one transaction. */
@ExtendWith(TestServers.class)
class WalletPaidOrdersIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(29_001);

  /** After which MySQL refuses a statement that waits for a lock. */
  private static final Duration LOCK_WAIT = Duration.ofSeconds(3);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final Wallets wallets = consumer.bean(Wallets.class);
  private static final PaymentProvider payments =
      new WalletPayments(wallets, consumer.bean(WalletAccounts.class));
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);
  private static final PaidBy paidBy = new PaidBy(payments, consumer);

  private final long sku = NEXT_SKU.getAndIncrement();
  private final long payer = ThreadLocalRandom.current().nextLong(1L << 40, 1L << 50);

  @BeforeEach
  void recharge() {
    recharge("recharge-1", 1_000_000);
  }

  @Test
  void aChargeAndItsOrderAreOneTransaction() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 2);
    double done = count("DONE");

    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);

    assertThat(count("DONE")).isEqualTo(done + 1);
    assertThat(balance()).isEqualTo(1_000_000 - 2 * 9_900);
    assertThat(
            consumer.text(
                "SELECT CONCAT_WS(' ', state, charge_id, amount_cents, check_at) FROM payment"
                    + " WHERE order_id = ?",
                order.value()))
        .isEqualTo("CHARGED wallet-" + order + " 19800");
    assertThatThrownBy(() -> paidBy.pay(order, payer + 1)).hasMessageStartingWith("UNKNOWN_ORDER");
  }

  /** Its row is read from the history, and not locked. */
  @Test
  void onlyItsOwnerSeesThatAnArchivedOrderIsPaid() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    paidBy.pay(order, payer);
    orders.archive(order);

    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThatThrownBy(() -> paidBy.pay(order, payer + 1)).hasMessageStartingWith("UNKNOWN_ORDER");
    assertThat(balance()).isEqualTo(1_000_000 - 9_900);
  }

  private static double count(String outcome) {
    return consumer.counter("seckill.consumer.wallet.operations", "outcome", outcome);
  }

  /** A refusal stores nothing. */
  @Test
  void aPoorShopperPaysAfterARecharge() {
    open(200);
    OrderId order = orders.confirmed(sku, payer, 102);
    double refused = count("INSUFFICIENT_FUNDS");

    assertThatThrownBy(() -> paidBy.pay(order, payer)).hasMessageStartingWith("PAYMENT_DECLINED");
    assertThat(consumer.number("SELECT COUNT(*) FROM payment WHERE order_id = ?", order.value()))
        .isZero();
    assertThat(count("INSUFFICIENT_FUNDS")).isEqualTo(refused + 1);
    recharge("recharge-2", 9_800);
    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThat(balance()).isZero();
  }

  @Test
  void inDemoModeANewShopperPaysWithTheMoneyThatIsGivenThen() {
    open(10);
    long shopper = payer + 2;
    OrderId first = orders.confirmed(sku, shopper, 1);
    OrderId second = orders.confirmed(sku, shopper, 1);

    assertThat(paidBy.pay(first, shopper).status()).isEqualTo(OrderStatus.PAID);
    assertThat(paidBy.pay(second, shopper).status()).isEqualTo(OrderStatus.PAID);
    assertThat(consumer.number("SELECT balance_cents FROM wallet WHERE user_id = ?", shopper))
        .isEqualTo(10_000_000 - 2 * 9_900);
  }

  /** A former process charged it, and died before it marked the order; the money may be spent. */
  @ParameterizedTest
  @ValueSource(ints = {1, 101})
  void anOrderThatIsChargedAlreadyIsPaidOnce(int quantity) {
    open(200);
    OrderId order = orders.confirmed(sku, payer, quantity);
    OrderId other = orders.confirmed(sku, payer, 1);
    payments.charge(new PaymentProvider.ChargeRequest(order, payer, 9_900L * quantity));

    assertThat(results(List.of(new OrderPayment(order, payer), new OrderPayment(other, payer))))
        .isEqualTo(quantity == 1 ? "PAID, PAID" : "PAID, PAYMENT_DECLINED");
    assertThat(balance()).isEqualTo(1_000_000 - 9_900L * (quantity == 1 ? 2 : 101));
  }

  @Test
  void anOrderThatCostsNothingIsPaidBesideAnother() {
    open(10);
    OrderId free = orders.confirmed(sku, payer, 1);
    OrderId other = orders.confirmed(sku, payer, 1);
    consumer.update("UPDATE orders SET unit_price_cents = 0 WHERE order_id = ?", free.value());

    assertThat(results(List.of(new OrderPayment(free, payer), new OrderPayment(other, payer))))
        .isEqualTo("PAID, PAID");
    assertThat(balance()).isEqualTo(1_000_000 - 9_900);
    assertThat(consumer.bean(WalletAccounts.class).find(free.value())).isEmpty();
  }

  @Test
  void aLockedWalletHoldsUpNoOther() throws Exception {
    open(10);
    OrderId waiting = orders.confirmed(sku, payer, 1);
    OrderId other = orders.confirmed(sku, payer + 1, 1);
    consumer.bean(WalletAccounts.class).balance(payer + 1); // makes it, in demo mode
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = " + payer + " FOR UPDATE")) {
      assertThat(
              results(
                  List.of(new OrderPayment(waiting, payer), new OrderPayment(other, payer + 1))))
          .isEqualTo("alone, PAID");
      lock.release();
    }
    assertThat(paidBy.pay(waiting, payer).status()).isEqualTo(OrderStatus.PAID);
  }

  /** As by another process that stopped before its COMMIT. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSaleWhoseTotalIsLockedHoldsUpNoOther(boolean byWallet) throws Exception {
    open(10);
    paidBy.pay(orders.confirmed(sku, payer, 1), payer);
    OrderId waiting = orders.confirmed(sku, payer, 1);
    OrderId begun = orders.confirmed(sku, payer, 1);
    long otherSku = NEXT_SKU.getAndIncrement();
    new Sales(consumer).open(otherSku, "UNLIMITED", 0, 10);
    OrderId other = orders.confirmed(otherSku, payer, 1);
    OrderId next = orders.confirmed(otherSku, payer, 1);
    try (RowLock lock = lockPaid(sku)) {
      assertThat(settle(byWallet, waiting, other)).isEqualTo("alone, PAID");
      assertThat(orders.status(waiting)).isEqualTo("CONFIRMED");

      assertThat(byWallet || paidBy.begins(begun, payer)).isTrue();
      CompletableFuture<String> settled;
      long began = System.nanoTime();
      try (RowLock brief = lockPaid(otherSku)) {
        settled = CompletableFuture.supplyAsync(() -> settle(byWallet, waiting, next));
        eventually()
            .until(
                () ->
                    settled.isDone() || consumer.executing("INSERT INTO order_total%").isPresent());
        brief.release();
      }
      String result = Bounded.get(settled);
      boolean isLate = System.nanoTime() - began >= LOCK_WAIT.toNanos(); // may have waited in vain
      assertThat(isLate ? settle(byWallet, waiting, next) : result).isEqualTo("alone, PAID");
      lock.release();
    }
    assertThat(paidBy.pay(waiting, payer).status()).isEqualTo(OrderStatus.PAID);
    assertThat(
            consumer.number(
                "SELECT orders FROM order_total WHERE sku_id = ? AND fate = 'PAID'", sku))
        .isEqualTo(2);
  }

  private static RowLock lockPaid(long sku) {
    return consumer.lock(
        "SELECT * FROM order_total WHERE sku_id = " + sku + " AND fate = 'PAID' FOR UPDATE");
  }

  /** Of payments from the wallet, or of charges that another provider has made. */
  private String settle(boolean byWallet, OrderId... ids) {
    if (byWallet) {
      return results(Stream.of(ids).map(id -> new OrderPayment(id, payer)).toList());
    }
    Map<OrderId, OrderRow> settled =
        paidBy.settle(List.of(ids)).stream()
            .collect(Collectors.toMap(OrderRow::orderId, order -> order));
    return Stream.of(ids)
        .map(id -> settled.containsKey(id) ? settled.get(id).status().name() : "alone")
        .collect(Collectors.joining(", "));
  }

  @Test
  void aWalletEditedByHandPaysForNothing() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    editBalance(1);
    assertThat(results(List.of(new OrderPayment(order, payer)))).isEqualTo("alone");
    assertThatThrownBy(() -> paidBy.pay(order, payer)).hasMessageStartingWith("BUSY");
    assertThat(orders.status(order)).isEqualTo("CONFIRMED");
    editBalance(-1);

    assertThat(paidBy.pay(order, payer).status()).isEqualTo(OrderStatus.PAID);
  }

  private void editBalance(long cents) {
    consumer.update(
        "UPDATE wallet SET balance_cents = balance_cents + ? WHERE user_id = ?", cents, payer);
  }

  /**
   * The money may still be at the provider before, which alone can return it. If that is gone for
   * good, an operator does, and ends the refund with the statement of docs/operations.md.
   */
  @Test
  void aPaymentBegunAtAnotherProviderStaysDueUntilAnOperatorEndsIt() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    consumer.api().cancel(order, payer);
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, state, charge_id, check_at)"
            + " VALUES (?, 9900, 'REFUND_DUE', 'acme-1', NOW(6) + INTERVAL 1 MINUTE)",
        order.value());

    paidBy.look(order);

    assertThat(
            consumer.text(
                "SELECT CONCAT(state, check_at IS NULL) FROM payment WHERE order_id = ?",
                order.value()))
        .isEqualTo("REFUND_DUE0");

    consumer.update(
        "UPDATE payment SET state='REFUNDED', check_at=NULL WHERE order_id IN (?)", order.value());
    paidBy.look(order); // as a sweep that had claimed it before

    assertThat(payment(order)).isEqualTo("REFUNDED acme-1 1");
  }

  /** Also one that a former release has closed in the wallet's books. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLateChargeOfAnotherProviderStaysDue(boolean isClosed) {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    consumer.api().cancel(order, payer);
    if (isClosed) {
      payments.refund(order);
    }
    double refunds = consumer.counter("seckill.consumer.refunds");

    paidBy.settle(order, "acme-" + order);
    paidBy.look(order);

    assertThat(payment(order)).isEqualTo("REFUND_DUE acme-" + order + " 0");
    assertThat(consumer.counter("seckill.consumer.refunds")).isEqualTo(refunds);
    consumer.update("DELETE FROM payment WHERE order_id = ?", order.value());
  }

  private static String payment(OrderId order) {
    return consumer.text(
        "SELECT CONCAT_WS(' ', state, charge_id, check_at IS NULL) FROM payment WHERE order_id = ?",
        order.value());
  }

  /** Its answer to an earlier attempt is unknown: the order may be paid twice. */
  @ParameterizedTest
  @CsvSource({"STARTED, true", "DECLINED, true", "STARTED, false"})
  void theProviderBeforeIsAskedAfterAWalletHasPaid(String state, boolean hasCharged) {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, state, check_at)"
            + " VALUES (?, 9900, ?, NOW(6) + INTERVAL 1 HOUR)",
        order.value(),
        state);
    LateProvider before = new LateProvider();
    if (hasCharged) {
      before.book(order);
    }

    paidBy.pay(order, payer);
    paidBy.look(order);
    assertThat(payment(order)).isEqualTo("CHARGED wallet-" + order + " 0");
    new PaidBy(before, consumer).look(order);

    assertThat(
            consumer.number(
                "SELECT COUNT(*) FROM unexplained_charge WHERE order_id = ?"
                    + " AND charge_id = ? AND reason = 'SECOND_CHARGE'",
                order.value(),
                "late-" + order))
        .isEqualTo(hasCharged ? 1 : 0);
    if (!hasCharged) {
      assertThat(before.calls(order)).as("found nothing, closed").isEqualTo(2);
      assertThat(payment(order)).as("may be booked yet").endsWith(" 0");
      consumer.update(
          "UPDATE payment SET asked_at = asked_at - INTERVAL 2 HOUR WHERE order_id = ?",
          order.value());
      new PaidBy(before, consumer).look(order);
    }
    assertThat(payment(order)).isEqualTo("CHARGED wallet-" + order + " 1");
    assertThat(before.hasMoneyOf(order)).as("which an operator returns").isEqualTo(hasCharged);
  }

  @Test
  void theCheckComparesChargesWithOrders() {
    open(10);
    OrderId order = orders.confirmed(sku, payer, 1);
    payments.charge(new PaymentProvider.ChargeRequest(order, payer, 9_900));
    assertThat(differences()).contains("order " + order.value() + " is CONFIRMED, but charged");

    paidBy.pay(order, payer);
    assertThat(differences()).doesNotContain("" + order.value());

    assertFoundAsPaid(order, "wallet_charge SET closed = ? WHERE charge_id = ?", 1, 0);
    assertFoundAsPaid(order, "payment SET amount_cents = ? WHERE order_id = ?", 9_901, 9_900);
  }

  private static void assertFoundAsPaid(OrderId order, String edit, int wrong, int right) {
    assertThat(consumer.update("UPDATE " + edit, wrong, order.value())).isOne();
    assertThat(differences()).contains("order " + order.value() + " is paid, but its charge is");
    consumer.update("UPDATE " + edit, right, order.value());
  }

  private static String differences() {
    return consumer.bean(WalletCheck.class).checkWhole().detail().toString();
  }

  /** The order stays PAID, and its payment CHARGED. */
  @Test
  void anAuditCountsWhatAnOperatorHasRefunded() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10);
    OrderId order = orders.strong(sku, payer, 1);
    paidBy.pay(order, payer);
    wallets.execute(
        new WalletOperation(payer, WalletKind.REFUND, "refund-01", 500, order.value(), null));

    Answer audit =
        eventually()
            .until(
                () -> consumer.api().post("/internal/v1/skus/" + sku + "/audit"),
                answer -> answer.status() != 503);

    assertThat(audit.number("chargedCents")).as(audit.text()).isEqualTo(9_400);
    assertThat(audit.number("refundedCents")).isEqualTo(500);
  }

  /** Two gateways send the same payments, and both again: an answer may have been lost. */
  @Test
  void aListPaysForEachOrderOnceNoMatterWhatTheOthersAre() throws Exception {
    open(400);
    OrderId good = orders.confirmed(sku, payer, 1);
    OrderId ended = orders.confirmed(sku, payer, 1);
    OrderId tooDear = orders.confirmed(sku, payer, 200);
    OrderId strangers = orders.confirmed(sku, payer + 1, 1);
    OrderId held = orders.confirmed(sku, payer, 1);
    consumer.api().cancel(ended, payer);
    List<OrderPayment> list =
        Stream.of(good, ended, tooDear, strangers, good, new OrderId(4711), held)
            .map(order -> new OrderPayment(order, payer))
            .toList();
    List<String> first = new CopyOnWriteArrayList<>();
    try (RowLock lock =
        consumer.lock("SELECT * FROM orders WHERE order_id = " + held.value() + " FOR UPDATE")) {
      Races.race(Collections.nCopies(2, () -> first.add(results(list))));
      assertThat(results(list.subList(6, 7))).isEqualTo("alone");
      lock.release();
    }

    String results = "PAID, NOT_PAYABLE, PAYMENT_DECLINED, UNKNOWN_ORDER, PAID, UNKNOWN_ORDER, %s";
    assertThat(first).containsExactly(results.formatted("alone"), results.formatted("alone"));
    assertThat(results(list)).isEqualTo(results.formatted("PAID"));
    assertThat(balance()).isEqualTo(1_000_000 - 2 * 9_900);
  }

  private static String results(List<OrderPayment> list) {
    return paidBy.pay(list).stream()
        .map(WalletPaidOrdersIT::result)
        .collect(Collectors.joining(", "));
  }

  private static String result(PaymentOutcome outcome) {
    try {
      return outcome.alone() ? "alone" : outcome.paid().status().name();
    } catch (ProblemException e) {
      return e.problem().code().name();
    }
  }

  /** Whichever comes first, money and order agree. */
  @ParameterizedTest
  @ValueSource(strings = {"CANCELLED", "EXPIRED"})
  void paymentsAgainstOtherEnds(String end) {
    open(100);
    for (int race = 0; race < 20; race++) {
      OrderId order = orders.confirmed(sku, payer, 1);
      if (end.equals("EXPIRED")) {
        orders.age(order, 3_600);
      }
      Races.race(List.of(() -> payUnlessEnded(order), () -> end(order, end)));
    }

    long paid = number("PAID");
    assertThat(number(end)).isEqualTo(20 - paid);
    assertThat(balance()).isEqualTo(1_000_000 - 9_900 * paid);
  }

  private void payUnlessEnded(OrderId order) {
    try {
      untilUnlocked(() -> paidBy.pay(order, payer));
    } catch (ProblemException e) {
      assertThat(e.problem().code()).isEqualTo(ProblemCode.NOT_PAYABLE);
    }
  }

  private void end(OrderId order, String end) {
    if (end.equals("EXPIRED")) {
      untilUnlocked(paidBy::expire);
    } else {
      consumer.api().cancel(order, payer);
    }
  }

  /** Again after a lock wait time-out or a deadlock, as the callers do. */
  private static void untilUnlocked(Runnable work) {
    eventually()
        .ignoreExceptionsInstanceOf(TransientDataAccessException.class)
        .until(
            () -> {
              work.run();
              return true;
            });
  }

  private long number(String status) {
    return consumer.number(
        "SELECT COUNT(*) FROM orders WHERE sku_id = ? AND status = ?", sku, status);
  }

  private void open(long stock) {
    new Sales(consumer).open(sku, "UNLIMITED", 0, stock);
  }

  private long balance() {
    return consumer.bean(WalletAccounts.class).balance(payer).balanceCents();
  }

  private void recharge(String key, long cents) {
    wallets.execute(new WalletOperation(payer, WalletKind.RECHARGE, key, cents, null, null));
  }
}
