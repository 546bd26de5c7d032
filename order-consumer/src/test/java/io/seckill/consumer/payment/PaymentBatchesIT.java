package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.Charge;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.payment.ChargeOutcomes.ChargeAnswer;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderRow;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.DataAccessException;

/** Payments that share a transaction do not share their fate. */
@ExtendWith(TestServers.class)
class PaymentBatchesIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(8001);
  private static final long USER = 7;
  private static final String PAYMENTS = "/internal/v1/orders/payments";

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.demo.enabled", "false",
              // The test holds a lock while requests arrive.
              "spring.datasource.hikari.connection-init-sql", TestConsumer.LONG_LOCK_WAITS,
              "pause.expirySweeper", "1h",
              "pause.paymentSweeper", "1h"),
          FussyProvider.class);

  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);
  private static final Payments payments = consumer.bean(Payments.class);
  private static final FussyProvider provider = consumer.bean(FussyProvider.class);

  private final ExecutorService shoppers = Executors.newCachedThreadPool();
  private final long sku = NEXT_SKU.getAndIncrement();

  @BeforeEach
  void open() {
    new Sales(consumer).open(sku, "LIMITED", 100, 1_000);
  }

  @AfterEach
  void stopShoppers() {
    shoppers.shutdownNow();
  }

  @Test
  void eachPaymentOfABatchHasItsOwnOutcome() throws Exception {
    OrderId first = confirmed();
    OrderId good = confirmed();
    OrderId twice = confirmed();
    OrderId expired = confirmed();
    OrderId paidMeanwhile = confirmed();
    OrderId declined = confirmed();
    OrderId unanswered = confirmed();
    provider.declined.add(declined);
    provider.unanswered.add(unanswered);
    int askedBefore = provider.asked.get();
    double paidBefore = counted("seckill.consumer.orders.ended", "PAID");
    long transactions = transactions();
    List<Future<Answer>> answers = new ArrayList<>();
    try (Locked held = lockDuringCharge("payment", first)) {
      Future<Answer> leader = pay(first);
      eventually().until(() -> provider.charged.contains(first) && waits("payment"));

      for (OrderId id : List.of(good, twice, twice, expired, paidMeanwhile, declined)) {
        answers.add(pay(id));
      }
      assertThat(Bounded.get(pay(unanswered)).status()).isEqualTo(503);
      int all = 2 + answers.size(); // with the first and the unanswered one
      eventually()
          .until(() -> provider.asked.get() - askedBefore == all && waiting() == answers.size());
      payments.settle(consumer.bean(Orders.class).find(paidMeanwhile).orElseThrow(), "by-callback");
      assertThat(consumer.bean(Cancellations.class).expire(List.of(expired), Duration.ZERO))
          .isEqualTo(1);
      held.release();

      assertThat(Bounded.get(leader).status()).isEqualTo(200);
    }

    assertThat(statuses(answers)).containsExactly(200, 200, 200, 409, 200, 409);
    assertThat(Bounded.get(answers.get(3)).code()).isEqualTo("NOT_PAYABLE");
    assertThat(Bounded.get(answers.get(3)).body().path("orderStatus").stringValue())
        .isEqualTo("EXPIRED");
    assertThat(answers.get(5).get().code()).isEqualTo("PAYMENT_DECLINED");
    for (OrderId id : List.of(first, good, twice, paidMeanwhile)) {
      assertThat(orders.status(id)).isEqualTo("PAID");
      assertThat(payment(id)).isEqualTo("CHARGED");
      eventually().until(() -> orders.letter(sku, id).equals("P"));
    }
    assertThat(orders.status(expired)).isEqualTo("EXPIRED");
    assertThat(payment(expired)).isEqualTo("REFUNDED");
    assertThat(provider.charged).doesNotContain(expired);
    assertThat(orders.status(declined)).isEqualTo("CONFIRMED");
    assertThat(payment(declined)).isEqualTo("DECLINED");
    assertThat(payment(unanswered)).isEqualTo("STARTED");
    assertThat(counted("seckill.consumer.orders.ended", "PAID") - paidBefore).isEqualTo(4);
    assertThat(transactions() - transactions).isEqualTo(3);
  }

  /** As a cancel has, that waits for the row of its product. */
  @Test
  void aPaymentWhoseOrderIsLockedKeepsNoOtherWaiting() {
    OrderId declined = confirmed();
    provider.declined.add(declined);
    assertThat(Bounded.get(pay(declined)).code()).isEqualTo("PAYMENT_DECLINED");
    provider.declined.remove(declined);
    OrderId charged = confirmed();
    try (RowLock held = lock("orders JOIN payment USING (order_id)", declined);
        Locked later = lockDuringCharge("orders", charged)) {
      Future<Answer> begins = pay(declined);
      eventually()
          .until(() -> waits("orders") || consumer.executing("INSERT INTO pay%").isPresent());
      assertThat(Bounded.get(pay(confirmed())).status()).isEqualTo(200);
      assertThat(begins.isDone()).isFalse();
      held.release();
      assertThat(Bounded.get(begins).status()).isEqualTo(200);

      Future<Answer> settles = pay(charged);
      eventually().until(() -> provider.charged.contains(charged) && waits("orders"));
      assertThat(Bounded.get(pay(confirmed())).status()).isEqualTo(200);
      assertThat(settles.isDone()).isFalse();
      later.release();
      assertThat(Bounded.get(settles).status()).isEqualTo(200);
    }
  }

  @Test
  void aChargeIsSettledWhileNoOtherWaitForALockIsAllowed() {
    CountDownLatch over = new CountDownLatch(1);
    int share = consumer.bean(HikariDataSource.class).getMaximumPoolSize() / 2;
    CountDownLatch taken = new CountDownLatch(share);
    ConnectionShare lockWaits = consumer.bean(ConnectionShare.class);
    for (int n = 0; n < share; n++) {
      var unused =
          shoppers.submit(
              () ->
                  lockWaits.within(
                      () -> {
                        taken.countDown();
                        Bounded.await(over);
                        return true;
                      }));
    }
    Bounded.await(taken);
    OrderId reported = confirmed();
    OrderId locked = confirmed();
    try (Locked held = lockDuringCharge("orders", locked)) {
      assertThat(Bounded.get(pay(confirmed())).status()).isEqualTo(200);
      payments.settle(consumer.bean(Orders.class).find(reported).orElseThrow(), "by-callback-too");
      assertThat(orders.status(reported)).isEqualTo("PAID");

      Answer answer = Bounded.get(pay(locked));
      assertThat(provider.charged).contains(locked);
      assertThat(answer.code()).isEqualTo("UNAVAILABLE");
      held.release();
    } finally {
      over.countDown();
    }
    assertThat(Bounded.get(pay(locked)).status()).isEqualTo(200);
  }

  @Test
  void anAttemptOfSomebodyElseBeginsNothing() {
    OrderId mine = confirmed();
    OrderId other = confirmed();

    Map<OrderPayment, Optional<OrderRow>> begun =
        payments.begin(
            Set.of(new OrderPayment(mine, USER), new OrderPayment(other, USER + 1)), false);

    assertThat(begun.get(new OrderPayment(mine, USER))).isPresent();
    assertThat(begun.get(new OrderPayment(other, USER + 1))).isEmpty();
    assertThat(payment(mine)).isEqualTo("STARTED");
    assertThat(payment(other)).isEqualTo("NONE");
  }

  /**
   * A process with wallets has paid since the order was read; this provider is asked all the same.
   */
  @Test
  void anAttemptThatMeetsTheChargeOfAWalletIsChecked() {
    OrderId paid = confirmed();
    OrderId other = confirmed();
    for (OrderId id : List.of(paid, other)) {
      consumer.update(
          "INSERT INTO payment (order_id, amount_cents, state, charge_id, check_at)"
              + " VALUES (?, 9900, 'CHARGED', ?, NULL)",
          id.value(),
          (id.equals(paid) ? "wallet-" : "acme-") + id);
    }

    var unused =
        payments.begin(Set.of(new OrderPayment(paid, USER), new OrderPayment(other, USER)), false);

    assertThat(checked(paid)).isEqualTo("CHARGED 1");
    assertThat(checked(other)).isEqualTo("CHARGED 0");
  }

  private static String checked(OrderId id) {
    return consumer.text(
        "SELECT CONCAT_WS(' ', state, check_at IS NOT NULL) FROM payment WHERE order_id = ?",
        id.value());
  }

  /** It may wait: the others of the list would wait with it. */
  @Test
  void aListLeavesOutWhatAnInstalledProviderIsAskedFor() {
    OrderId mine = confirmed();

    Answer answer = consumer.api().post(PAYMENTS, list(1, mine));

    assertThat(answer.body().at("/outcomes/0/orderId").stringValue()).isEqualTo(mine.toString());
    assertThat(answer.body().at("/outcomes/0/alone").booleanValue()).isTrue();
    assertThat(consumer.api().post(PAYMENTS, list(65, mine)).field()).isEqualTo("payments");
    assertThat(payment(mine)).isEqualTo("NONE");
    assertThat(provider.charged).doesNotContain(mine);
  }

  @Test
  void aBatchDoesNotWaitForAnOrderThatAnotherTransactionHolds() {
    OrderId held = confirmed();
    OrderId free = confirmed();
    try (RowLock lock = lock("orders", held)) {

      Map<ChargeAnswer, OrderRow> settled = payments.settle(Set.of(charged(held), charged(free)));

      assertThat(settled).containsOnlyKeys(charged(free));
      assertThat(orders.status(held)).isEqualTo("CONFIRMED");
      lock.release();
    }
    assertThat(payments.settle(Set.of(charged(held)))).containsOnlyKeys(charged(held));
    assertThat(orders.status(held)).isEqualTo("PAID");
  }

  @Test
  void aBatchThatMySqlLosesHalfwayChangesNothingAndMayBeRepeated() throws Exception {
    List<OrderId> ids = List.of(confirmed(), confirmed());
    payments.begin(
        Set.of(new OrderPayment(ids.get(0), USER), new OrderPayment(ids.get(1), USER)), false);
    Set<ChargeAnswer> batch = Set.of(charged(ids.get(0)), charged(ids.get(1)));
    try (RowLock held = lock("payment", ids.get(1))) {
      Future<?> lost = shoppers.submit(() -> payments.settle(batch));
      eventually().until(() -> waits("payment"));
      kill("payment");

      assertThatThrownBy(lost::get).hasCauseInstanceOf(DataAccessException.class);
      assertThat(ids).extracting(orders::status).containsOnly("CONFIRMED");
      assertThat(ids).extracting(PaymentBatchesIT::payment).containsOnly("STARTED");
      held.release();
    }
    assertThat(payments.settle(batch)).hasSize(2);
    assertThat(ids).extracting(orders::status).containsOnly("PAID");
    assertThat(ids).extracting(PaymentBatchesIT::payment).containsOnly("CHARGED");
  }

  private static String list(int times, OrderId id) {
    return "{\"payments\":[%s]}"
        .formatted(
            String.join(
                ",", Collections.nCopies(times, "{\"orderId\":\"" + id + "\",\"userId\":7}")));
  }

  private OrderId confirmed() {
    return orders.confirmed(sku, USER, 1);
  }

  private static ChargeAnswer charged(OrderId id) {
    return new ChargeAnswer(id, new Charge.Charged("charge-" + id));
  }

  private Future<Answer> pay(OrderId id) {
    return shoppers.submit(() -> consumer.api().pay(id, USER));
  }

  private static List<Integer> statuses(List<Future<Answer>> answers) throws Exception {
    List<Integer> statuses = new ArrayList<>();
    for (Future<Answer> answer : answers) {
      statuses.add(Bounded.get(answer).status());
    }
    return statuses;
  }

  /** A lock that the first charge of an order takes. */
  private static final class Locked implements AutoCloseable {

    private final AtomicReference<RowLock> lock = new AtomicReference<>();

    @Override
    public void close() {
      release();
    }

    void release() {
      RowLock held = lock.getAndSet(null);
      if (held != null) {
        held.close();
      }
    }
  }

  private static Locked lockDuringCharge(String table, OrderId id) {
    Locked locked = new Locked();
    provider.during.put(id, () -> locked.lock.set(lock(table, id)));
    return locked;
  }

  private static RowLock lock(String table, OrderId id) {
    return consumer.lock(
        "SELECT * FROM " + table + " WHERE order_id = " + id.value() + " FOR UPDATE");
  }

  /** Whether a settling transaction waits at this table. */
  private static boolean waits(String table) {
    return settlingAt(table).isPresent();
  }

  private static void kill(String table) {
    consumer.update("KILL " + settlingAt(table).orElseThrow());
  }

  private static Optional<Long> settlingAt(String table) {
    return consumer.executing(
        table.equals("orders")
            ? "SELECT *% FROM orders FORCE%FOR UPDATE"
            : "INSERT INTO payment%charge_id%");
  }

  private static double waiting() {
    return consumer.gauge("seckill.consumer.payments.waiting");
  }

  private static long transactions() {
    return consumer
        .bean(MeterRegistry.class)
        .get("seckill.consumer.payment.batch.size")
        .summary()
        .count();
  }

  private static double counted(String counter, String status) {
    return consumer.counter(counter, "status", status);
  }

  private static String payment(OrderId id) {
    return consumer.textOr("NONE", "SELECT state FROM payment WHERE order_id = ?", id.value());
  }

  /** Charges every order but those that the test names. */
  static final class FussyProvider implements PaymentProvider {

    final AtomicInteger asked = new AtomicInteger();
    final Map<OrderId, Runnable> during = new ConcurrentHashMap<>();
    final Set<OrderId> charged = ConcurrentHashMap.newKeySet();
    final Set<OrderId> declined = ConcurrentHashMap.newKeySet();
    final Set<OrderId> unanswered = ConcurrentHashMap.newKeySet();

    @Override
    public Charge charge(OrderId orderId, long amountCents) {
      asked.incrementAndGet();
      if (unanswered.contains(orderId)) {
        throw new IllegalStateException("a defect of the provider");
      }
      if (declined.contains(orderId)) {
        return new Charge.Declined();
      }
      Optional.ofNullable(during.remove(orderId)).ifPresent(Runnable::run);
      charged.add(orderId);
      return new Charge.Charged("charge-" + orderId);
    }

    @Override
    public Optional<Charge.Charged> find(OrderId orderId) {
      return charged.contains(orderId)
          ? Optional.of(new Charge.Charged("charge-" + orderId))
          : Optional.empty();
    }

    @Override
    public void refund(OrderId orderId) {
      charged.remove(orderId);
    }

    @Override
    public Duration longestBookingDelay() {
      return Duration.ZERO;
    }
  }
}
