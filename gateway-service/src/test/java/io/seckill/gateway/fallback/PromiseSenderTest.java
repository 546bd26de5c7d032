package io.seckill.gateway.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SaleState;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.contract.PromiseTransfer;
import io.seckill.support.contract.PromiseTransfer.Admitted;
import io.seckill.support.contract.PromiseTransfer.Forgotten;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.QueryTimeoutException;

/** order-consumer gets what MySQL lacks, and a gateway that stops leaves nothing unknown. */
class PromiseSenderTest {

  private static final long SKU = 1_001;
  private static final Admitted ADMITTED = new Admitted(SKU, 1, 5);

  private final PromisedOrders orders = new PromisedOrders();
  private final Promises promises =
      new Promises(
          FallbackMode.AUTOMATIC,
          (sku, term) -> true,
          orders,
          this::nanoTime,
          System::currentTimeMillis);
  private final Set<OrderId> inMySql = ConcurrentHashMap.newKeySet();
  private final List<PromiseTransfer> calls = new CopyOnWriteArrayList<>();
  private final List<Integer> callsBeforeTheEnd = new CopyOnWriteArrayList<>();
  private final AtomicInteger productReads = new AtomicInteger();
  private final Map<Long, ProductRow> products = new ConcurrentHashMap<>();
  private volatile boolean isMySqlAway;
  private volatile boolean isConsumerAway;
  private volatile long frozenNanos;
  private volatile Runnable duringTheLastCall = () -> {};

  private final PromiseSender sender =
      new PromiseSender(
          this::transfer,
          () -> callsBeforeTheEnd.add(calls.size()),
          this::product,
          promises,
          orders,
          this::stored,
          Duration.ofMillis(50));

  @AfterEach
  void stop() {
    sender.close();
  }

  @Test
  void onlyWhatMySqlLacksIsTransferredForATerm() {
    List<OrderMessage> promised = orders(1, 2_000);
    promised.subList(0, 1_750).forEach(order -> inMySql.add(order.orderId()));
    orders.add(promised);
    products.put(SKU, product(SKU, Decider.REDIS, SaleState.OPEN, 0, 0));
    orders.add(ADMITTED);

    begin(1);

    assertThat(transferred()).containsExactlyElementsOf(ids(promised.subList(1_750, 2_000)));
    assertThat(calls).as("two of orders, one of units, the last one").hasSize(4);
    assertThat(calls.get(2).admitted()).isEqualTo(List.of(ADMITTED));
    assertThat(calls.get(3).isLast()).isTrue();
    assertThat(calls.get(3).isComplete()).isTrue();
  }

  @Test
  void everythingIsTransferredWhenMySqlDoesNotSayWhatItHas() {
    isMySqlAway = true;
    orders.add(orders(1, 3));

    begin(1);

    assertThat(transferred()).containsExactlyElementsOf(ids(orders(1, 3)));
  }

  @Test
  void aStopHandsOverWhatMySqlLacksAndEndsTheRegistrationThen() {
    heard(System.nanoTime(), 0);
    inMySql.add(PromisedOrdersTest.order(2).orderId());
    orders.add(orders(1, 3));
    products.put(SKU, product(SKU, Decider.REDIS, SaleState.OPEN, 0, 0));
    orders.add(ADMITTED);

    sender.close();

    assertThat(transferred())
        .containsExactly(
            PromisedOrdersTest.order(1).orderId(), PromisedOrdersTest.order(3).orderId());
    assertThat(calls).noneMatch(PromiseTransfer::isLast);
    assertThat(callsBeforeTheEnd).containsExactly(2);
    assertThat(promises.mayConfirm(SKU)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theSaleOfAForgottenOrderIsNamed(boolean atAStop) {
    orders.add(orders(1, PromisedOrders.MOST + 1));

    if (atAStop) {
      heard(System.nanoTime(), 0);
      sender.close();
      assertThat(callsBeforeTheEnd).containsExactly(calls.size());
    } else {
      begin(1);
      assertThat(calls.get(calls.size() - 1).isComplete()).isTrue();
    }

    assertThat(calls.stream().flatMap(call -> call.forgotten().stream()))
        .containsExactly(new Forgotten(SKU, 1));
  }

  /** Why a gateway stays registered until order-consumer has looked at Redis. */
  private enum Reason {
    ORDER_CONSUMER_IS_AWAY,
    NEVER_REGISTERED
  }

  @ParameterizedTest
  @EnumSource
  void aStopThatLeavesSomethingUnknownDoesNotEndTheRegistration(Reason reason) {
    orders.add(orders(1, 1));
    if (reason != Reason.NEVER_REGISTERED) {
      heard(System.nanoTime(), 0);
    }
    isConsumerAway = reason == Reason.ORDER_CONSUMER_IS_AWAY;

    sender.close();

    assertThat(callsBeforeTheEnd).isEmpty();
    assertThat(promises.mayConfirm(SKU)).isFalse();
  }

  /** order-consumer has removed the registration meanwhile, and the transfer with it. */
  @Test
  void handsOverAgainAfterItWasFrozenInTheLastCall() {
    duringTheLastCall =
        () -> {
          duringTheLastCall = () -> {};
          frozenNanos = Promises.HEARD_WITHIN.toNanos() + 1;
          heard(nanoTime(), 1);
        };

    begin(1);

    eventually()
        .until(() -> calls.stream().filter(PromiseTransfer::isLast).count(), last -> last == 2);
    eventually().until(() -> promises.mayConfirm(SKU));
  }

  /** Three orders were dropped; all numbers are those of the sale in MySQL. */
  @ParameterizedTest
  @CsvSource({
    "REDIS, 3, 3, true", // settled: MySQL has or has refused the dropped ones
    "REDIS, 9, 9, true",
    "REDIS, 2, 3, false", // one of them is on its way
    "REDIS, 2, 2, false", // MySQL lacks the third one
    "MYSQL, 3, 3, false", // a read from after the switch says nothing of Redis
  })
  void droppedOrdersCountAsKnownOnceTheirSaleIsSettled(
      Decider decides, long settled, long lastSeq, boolean isKnown) {
    orders.add(orders(1, PromisedOrders.MOST + 3));
    assertThat(orders.content().dropped()).isNotEmpty();

    products.put(SKU, product(SKU, decides, SaleState.OPEN, settled, lastSeq));
    int before = productReads.get();
    eventually() // the second read from here is of a round after the first
        .until(() -> productReads.get() > before + 1 || orders.content().dropped().isEmpty());

    assertThat(orders.content().dropped().isEmpty()).isEqualTo(isKnown);
  }

  /** A gateway sends all units in each transfer. */
  @Test
  void forgetsTheUnitsOfSalesThatAreOver() {
    products.put(1L, product(1, Decider.REDIS, SaleState.CLOSED, 3, 3));
    products.put(2L, product(2, Decider.REDIS, SaleState.CLOSED, 2, 3)); // one is on its way
    products.put(3L, product(3, Decider.MYSQL, SaleState.CLOSED, 3, 3));
    products.put(4L, product(4, Decider.REDIS, SaleState.OPEN, 3, 3));
    for (long sku = 1; sku <= 5; sku++) { // the last one has ended so long ago that it is not read
      orders.add(new Admitted(sku, 1, 5));
    }

    eventually().until(() -> orders.content().admitted().size() == 3);

    assertThat(orders.content().admitted())
        .extracting(Admitted::skuId)
        .containsExactlyInAnyOrder(2L, 3L, 4L);
  }

  private static ProductRow product(
      long sku, Decider decides, SaleState state, long settled, long lastSeq) {
    return TestProductRow.of(sku).decides(decides).state(state).orders(lastSeq, settled).row();
  }

  private void begin(long term) {
    promises.begins(term);
    heard(System.nanoTime(), term);
    eventually().until(() -> promises.transferred() == term);
  }

  private void heard(long nanos, long term) {
    promises.heard(TestPromises.sent(promises, nanos, term), null);
  }

  private long nanoTime() {
    return System.nanoTime() + frozenNanos;
  }

  private @Nullable ProductRow product(long skuId) {
    productReads.incrementAndGet();
    return products.get(skuId);
  }

  private void transfer(PromiseTransfer part) {
    if (isConsumerAway) {
      throw new IllegalStateException("order-consumer is away");
    }
    calls.add(part);
    if (part.isLast()) {
      duringTheLastCall.run();
    }
  }

  private List<OrderId> stored(List<OrderId> ids) {
    if (isMySqlAway) {
      throw new QueryTimeoutException("MySQL is away");
    }
    return ids.stream().filter(inMySql::contains).toList();
  }

  private List<OrderId> transferred() {
    return calls.stream()
        .flatMap(call -> call.orders().stream())
        .map(OrderMessage::orderId)
        .toList();
  }

  private static List<OrderId> ids(List<OrderMessage> orders) {
    return orders.stream().map(OrderMessage::orderId).toList();
  }

  private static List<OrderMessage> orders(int first, int last) {
    return IntStream.rangeClosed(first, last).mapToObj(PromisedOrdersTest::order).toList();
  }
}
