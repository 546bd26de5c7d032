package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Payments that share a call do not share their result. */
class PaymentQueueTest {

  private static final long USER = 7;
  private static final long FIRST = 1;
  private static final int CAPACITY = 150;
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final String UNKNOWN = "DATABASE_UNAVAILABLE";

  /** What order-consumer has, by id. */
  private final Map<Long, OrderStatus> stored = new ConcurrentHashMap<>();

  private final List<List<OrderPayment>> calls = new CopyOnWriteArrayList<>();
  private final List<OrderPayment> alone = new CopyOnWriteArrayList<>();
  private final CountDownLatch firstMayEnd = new CountDownLatch(1);
  private volatile UnaryOperator<List<PaymentOutcome>> spoiled = UnaryOperator.identity();
  private final AtomicInteger rests = new AtomicInteger();
  private volatile Runnable rest = rests::incrementAndGet;
  private volatile Mono<OrderRow> sentAlone = Mono.error(new IllegalStateException("alone"));
  private PaymentQueue queue = queue(LONG);

  @AfterEach
  void stop() {
    firstMayEnd.countDown();
    queue.destroy();
  }

  @Test
  void sendsTheFirstAtOnceAndTheRestTogether() {
    List<CompletableFuture<String>> paid = payDuringTheFirst(LongStream.range(10, 100).toArray());

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsOnly("PAID");
    assertThat(calls).extracting(List::size).containsExactly(1, OrderPayments.MAX_PAYMENTS, 26);
  }

  /** After the lists of up to 64, unless the next one is full already. */
  @ParameterizedTest
  @CsvSource({"7, 0", "8, 1", "72, 2", "128, 1"})
  void waitsForMoreOnlyAfterALargeList(int payments, int times) {
    List<CompletableFuture<String>> paid =
        payDuringTheFirst(LongStream.range(10, 10 + payments).toArray());

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsOnly("PAID");
    assertThat(Bounded.get(pay(9, USER))).as("sent after the rest").isEqualTo("PAID");
    assertThat(rests).hasValue(times);
  }

  @Test
  void thoseWhoPayAfterALargeListShareTheNextOne() {
    CountDownLatch resting = new CountDownLatch(1);
    CountDownLatch rested = new CountDownLatch(1);
    rest =
        () -> {
          resting.countDown();
          Bounded.await(rested);
        };
    List<CompletableFuture<String>> paid = payDuringTheFirst(LongStream.range(10, 18).toArray());
    firstMayEnd.countDown();
    assertThat(texts(paid)).as("answered before the rest").containsOnly("PAID");
    Bounded.await(resting);

    List<CompletableFuture<String>> more =
        LongStream.range(20, 27).mapToObj(id -> pay(id, USER)).toList();
    rested.countDown();

    assertThat(texts(more)).containsOnly("PAID");
    assertThat(calls).extracting(List::size).containsExactly(1, 8, 7);
  }

  /** A shopper who sends one twice, one of another user, one that cannot be paid, a stranger's. */
  @Test
  void eachPaymentOfAListHasItsOwnResult() {
    stored.put(11L, OrderStatus.EXPIRED);
    stored.put(12L, OrderStatus.CONFIRMED); // its charge is declined
    List<CompletableFuture<String>> paid = payDuringTheFirst(10, 11, 12, 10, 13);
    paid.add(pay(10, USER + 1));
    paid.add(pay(14, USER));

    firstMayEnd.countDown();

    assertThat(texts(paid))
        .containsExactly(
            "PAID",
            "PAID",
            "NOT_PAYABLE",
            "PAYMENT_DECLINED",
            "PAID",
            "PAID",
            "UNKNOWN_ORDER",
            "PAID");
    assertThat(calls).hasSize(2);
  }

  @Test
  void anOutcomeOfAnotherPaymentIsNobodys() {
    stored.put(11L, OrderStatus.EXPIRED);
    List<CompletableFuture<String>> paid = payDuringTheFirst(10, 11);
    spoiled = PaymentQueueTest::turned;

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsExactly("PAID", UNKNOWN, UNKNOWN);
  }

  /** Of the same order, so that the ids are as they should be. */
  @Test
  void anOutcomeOfAnotherUserIsNobodys() {
    List<CompletableFuture<String>> paid = payDuringTheFirst(10);
    paid.add(pay(10, USER + 1));
    spoiled = PaymentQueueTest::turned;

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsExactly("PAID", UNKNOWN, UNKNOWN);
  }

  @Test
  void aListThatIsNotAnsweredAsAWholeIsUnknownAndMayBeRepeated() {
    List<CompletableFuture<String>> paid = payDuringTheFirst(10, 11, 12);
    spoiled = outcomes -> outcomes.subList(0, 2);

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsExactly("PAID", UNKNOWN, UNKNOWN, UNKNOWN);
    spoiled =
        outcomes -> {
          throw new IllegalStateException("order-consumer was killed");
        };
    assertThat(texts(List.of(pay(10, USER)))).containsExactly(UNKNOWN);
    spoiled = UnaryOperator.identity();
    assertThat(texts(List.of(pay(10, USER), pay(11, USER)))).containsExactly("PAID", "PAID");
    assertThat(alone).isEmpty();
  }

  @Test
  void aListThatOrderConsumerIsTooBusyForIsKnownToBeUnpaid() {
    List<CompletableFuture<String>> paid = payDuringTheFirst(10, 11);
    spoiled =
        outcomes -> {
          throw ProblemException.of(ProblemCode.BUSY);
        };

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsExactly("PAID", "BUSY", "BUSY");
    spoiled =
        outcomes -> {
          throw ProblemException.of(ProblemCode.UNAVAILABLE);
        };
    assertThat(texts(List.of(pay(10, USER)))).as("another problem").containsExactly(UNKNOWN);
  }

  @Test
  void onePaymentThatMustWaitIsSentAloneAndTheOthersAreAnswered() {
    List<CompletableFuture<String>> paid = payDuringTheFirst(10, 11, 12);
    spoiled = PaymentQueueTest::theEleventhWaits;

    firstMayEnd.countDown();

    assertThat(texts(paid)).containsExactly("PAID", "PAID", "alone", "PAID");
    assertThat(alone).containsExactly(new OrderPayment(new OrderId(11), USER));
  }

  /** A provider may keep each call waiting, and all shoppers share 32 connections. */
  @Test
  void repeatsOfAPaymentThatIsSentAloneShareItsCall() {
    Sinks.One<OrderRow> provider = Sinks.one();
    sentAlone = provider.asMono();
    spoiled = PaymentQueueTest::theEleventhWaits;
    CompletableFuture<String> left = pay(11, USER);
    eventually().until(() -> !alone.isEmpty());
    left.cancel(true);

    List<CompletableFuture<String>> paid =
        LongStream.range(0, 40).mapToObj(repeat -> pay(11, USER)).toList();
    assertThat(Bounded.get(pay(12, USER))).as("sent after the repeats").isEqualTo("PAID");
    assertThat(alone).hasSize(1);

    provider.tryEmitValue(row(new OrderId(11))).orThrow();
    assertThat(texts(paid)).containsOnly("PAID");
    assertThat(alone).hasSize(1);
    assertThat(Bounded.get(pay(11, USER))).isEqualTo("PAID");
    assertThat(alone).as("a payment after the end of the call").hasSize(2);
  }

  @Test
  void aShopperWithManyOrdersLeavesConnectionsToTheProviderForOthers() {
    Sinks.One<OrderRow> provider = Sinks.one();
    sentAlone = provider.asMono();
    spoiled = outcomes -> outcomes.stream().map(PaymentQueueTest::waits).toList();
    List<CompletableFuture<String>> paid =
        new ArrayList<>(
            LongStream.range(10, 10 + PaymentQueue.MOST_ALONE)
                .mapToObj(id -> pay(id, USER))
                .toList());
    eventually().until(() -> alone.size() == PaymentQueue.MOST_ALONE);

    assertThat(Bounded.get(pay(30, USER))).isEqualTo("TOO_MANY_REQUESTS");
    paid.add(pay(10, USER)); // shares the call under way
    paid.add(pay(31, USER + 1));
    eventually().until(() -> alone.contains(new OrderPayment(new OrderId(31), USER + 1)));
    assertThat(alone).hasSize(PaymentQueue.MOST_ALONE + 1);

    provider.tryEmitValue(row(new OrderId(10))).orThrow();
    assertThat(texts(paid)).containsOnly("PAID");
    assertThat(Bounded.get(pay(30, USER))).as("with a place").isEqualTo("PAID");
  }

  @Test
  void oneTooManyIsRefusedAtOnceAndNotSent() {
    List<CompletableFuture<String>> paid =
        payDuringTheFirst(LongStream.range(10, 10 + CAPACITY).toArray());

    assertThat(Bounded.get(pay(9, USER))).isEqualTo("BUSY");

    firstMayEnd.countDown();
    assertThat(texts(paid)).containsOnly("PAID");
    assertThat(calls.stream().flatMap(List::stream))
        .doesNotContain(new OrderPayment(new OrderId(9), USER));
  }

  @Test
  void aSilentOrderConsumerKeepsNobodyWaiting() {
    queue.destroy();
    queue = queue(Duration.ofMillis(50));

    CompletableFuture<String> first = eventually().until(this::payFirst, one -> !calls.isEmpty());
    List<CompletableFuture<String>> paid = List.of(first, pay(10, USER), pay(11, USER));

    assertThat(texts(paid)).containsExactly(UNKNOWN, "BUSY", "BUSY");
  }

  /** Pays for the first order; that call is under way, or began too late on a busy machine. */
  private CompletableFuture<String> payFirst() {
    CompletableFuture<String> first = pay(FIRST, USER);
    eventually().until(() -> !calls.isEmpty() || first.getNow("").equals("BUSY"));
    return first;
  }

  private PaymentQueue queue(Duration patience) {
    return new PaymentQueue(
        this::answer,
        payment -> {
          alone.add(payment);
          return sentAlone;
        },
        new RequestBatcherProperties(
            1, 1, OrderPayments.MAX_PAYMENTS, CAPACITY, patience, patience),
        stopped -> rest.run());
  }

  private List<PaymentOutcome> answer(OrderPayments body) {
    calls.add(body.payments());
    if (body.payments().get(0).orderId().value() == FIRST) {
      Bounded.await(firstMayEnd);
      return body.payments().stream().map(this::outcome).toList();
    }
    return spoiled.apply(body.payments().stream().map(this::outcome).toList());
  }

  private PaymentOutcome outcome(OrderPayment payment) {
    OrderId id = payment.orderId();
    return new PaymentOutcome(id, payment.userId() == USER ? row(id) : null, false);
  }

  private static List<PaymentOutcome> turned(List<PaymentOutcome> outcomes) {
    List<PaymentOutcome> turned = new ArrayList<>(outcomes);
    Collections.reverse(turned);
    return turned;
  }

  private static List<PaymentOutcome> theEleventhWaits(List<PaymentOutcome> outcomes) {
    return outcomes.stream().map(one -> one.orderId().value() == 11 ? waits(one) : one).toList();
  }

  private static PaymentOutcome waits(PaymentOutcome outcome) {
    return new PaymentOutcome(outcome.orderId(), null, true);
  }

  private OrderRow row(OrderId id) {
    Instant now = Instant.EPOCH;
    OrderStatus status = stored.getOrDefault(id.value(), OrderStatus.PAID);
    return new OrderRow(id, USER, 1, 1, 1, "key-00000001", status, null, now, now, now);
  }

  /** Pays for the first order, and for these while that call is under way. */
  private List<CompletableFuture<String>> payDuringTheFirst(long... ids) {
    List<CompletableFuture<String>> paid = new ArrayList<>();
    paid.add(pay(FIRST, USER));
    eventually().until(() -> !calls.isEmpty());
    LongStream.of(ids).forEach(id -> paid.add(pay(id, USER)));
    return paid;
  }

  /** The status of the order afterwards, or the code of the problem. */
  private CompletableFuture<String> pay(long id, long user) {
    return queue
        .pay(new OrderId(id), user)
        .map(order -> order.status().name())
        .onErrorResume(ProblemException.class, e -> Mono.just(e.problem().code().name()))
        .onErrorResume(IllegalStateException.class, e -> Mono.just(e.getMessage()))
        .toFuture();
  }

  private static List<String> texts(List<CompletableFuture<String>> paid) {
    return paid.stream().map(Bounded::get).toList();
  }
}
