package io.seckill.consumer.storage;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.PacketLimit;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Purchases of strong sales, decided by a real MySQL. */
@ExtendWith(TestServers.class)
class StrongSalesIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(22_000);
  private static final String TAKE = "UPDATE products SET stock = stock -%";

  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.intake.enabled",
              "false",
              "spring.datasource.hikari.connection-init-sql",
              TestConsumer.LONG_LOCK_WAITS));
  private static final StrongSales strong = consumer.bean(StrongSales.class);
  private static final StoredInvariants database = new StoredInvariants(consumer.sql());
  private static final ExecutorService threads = Executors.newCachedThreadPool();

  private final long sku = NEXT_SKU.incrementAndGet();

  @AfterAll
  static void stop() {
    threads.shutdownNow();
    consumer.close();
  }

  @AfterEach
  void theLedgerIsSound() {
    database.check();
    assertThat(database.number("SELECT COUNT(*) FROM compensation")).isZero();
  }

  @Test
  void storesWhatItConfirms() {
    open("LIMITED", 3, 100);
    long before = Clock.systemUTC().millis();

    StrongDecision decision = decide(buy(7, "key-00000001", 2));

    long after = Clock.systemUTC().millis();
    OrderId id = decision.orderId();
    assertThat(decision).isEqualTo(StrongDecision.confirmed(id));
    assertThat(id.isDecidedByMySql()).isTrue();
    assertThat(id.timeMs())
        .as("a block of ids is used for five seconds at most")
        .isBetween(before - 5_000, after + 5_000);
    assertThat(
            consumer.text(
                "SELECT CONCAT_WS(' ', status, user_id, quantity, unit_price_cents, request_id,"
                    + " epoch, seq) FROM orders WHERE order_id = ?",
                id.value()))
        .isEqualTo("CONFIRMED 7 2 9900 key-00000001 1 1");
    assertThat(database.stock(sku)).isEqualTo(98);
    assertThat(database.settled(sku)).isEqualTo(1);
    assertThat(database.number("SELECT last_seq FROM products WHERE sku_id = " + sku)).isOne();
  }

  @Test
  void refusesWhatIsNotAStrongSale() {
    new Sales(consumer).openInMySql(sku, "LIMITED", 3, 100);
    long never = NEXT_SKU.incrementAndGet(); // was preheated
    consumer.api().put("/internal/v1/skus/" + never, Sales.strongProduct("LIMITED", 3, 100));

    List<StrongDecision> decisions =
        strong.decide(
            List.of(
                buy(7, "key-00000001", 1),
                new StrongPurchase(9_999_999, 7, "key-00000001", 1, null),
                new StrongPurchase(never, 7, "key-00000001", 1, null)));

    assertThat(outcomes(decisions))
        .containsExactly(Outcome.BUSY, Outcome.UNKNOWN_SKU, Outcome.UNKNOWN_SKU);
    assertNothingStored(100);
  }

  /** To the millisecond. */
  @Test
  void opensAndClosesByTheClockOfMySql() {
    open("UNLIMITED", 0, 10);
    String now = "UPDATE products SET %s = UTC_TIMESTAMP(3) WHERE sku_id = ?";

    consumer.update(now.formatted("opens_at"), sku);
    assertThat(decide(buy(7, "key-00000001", 1)).outcome()).isEqualTo(Outcome.CONFIRMED);

    consumer.update(now.formatted("closes_at"), sku);
    assertThat(decide(buy(7, "key-00000002", 1)).outcome()).isEqualTo(Outcome.CLOSED);
  }

  @Test
  void aRepeatIsAnsweredWithItsOrderWhateverBecameOfTheSale() {
    open("LIMITED", 2, 2);
    OrderId id = decide(buy(7, "key-00000001", 2)).orderId();
    assertThat(decide(buy(8, "key-00000001", 1)).outcome()).isEqualTo(Outcome.SOLD_OUT);

    assertThat(decide(buy(7, "key-00000001", 2)))
        .isEqualTo(StrongDecision.repeated(id, OrderStatus.CONFIRMED));
    assertThat(decide(buy(7, "key-00000001", 1)).outcome())
        .isEqualTo(Outcome.IDEMPOTENCY_KEY_REUSED);

    consumer.api().cancel(id, 7);
    consumer.api().post("/internal/v1/skus/" + sku + "/state", "{\"state\":\"CLOSED\"}");
    assertThat(decide(buy(7, "key-00000001", 2)))
        .isEqualTo(StrongDecision.repeated(id, OrderStatus.CANCELLED));
    assertThat(database.stock(sku)).isEqualTo(2);
  }

  /** More units are wanted than there are, and each user wants more than one may have. */
  @Test
  void batchesAtOnceNeverOversellNorExceedAQuota() {
    open("LIMITED", 2, 150);
    Collection<Outcome> seen = new ConcurrentLinkedQueue<>();

    Races.race(
        IntStream.range(0, 8).<Runnable>mapToObj(racer -> () -> seen.addAll(race(racer))).toList());

    assertThat(seen).filteredOn(outcome -> outcome == Outcome.CONFIRMED).hasSize(150);
    assertThat(seen).containsOnly(Outcome.CONFIRMED, Outcome.QUOTA_EXCEEDED, Outcome.SOLD_OUT);
    assertThat(database.stock(sku)).isZero();
    assertThat(database.settled(sku)).isEqualTo(150);
  }

  private List<Outcome> race(int racer) {
    List<Outcome> seen = new ArrayList<>();
    for (int batch = 0; batch < 10; batch++) {
      String key = "key-%d-%d-".formatted(racer, batch);
      int first = 20 * batch + 3 * racer;
      List<StrongPurchase> purchases =
          IntStream.range(first, first + 20)
              .mapToObj(i -> buy(1 + i % 90, key + (1_000 + i), 1))
              .toList();
      seen.addAll(outcomes(decideUnlessBusy(purchases)));
    }
    return seen;
  }

  @Test
  void decidesABatchThatIsLargerThanMySqlAccepts() throws Exception {
    open("LIMITED", 3, 1_000);
    List<StrongPurchase> purchases =
        IntStream.rangeClosed(1, 300).mapToObj(user -> buy(user, "key-0000000" + user, 1)).toList();

    assertThat(PacketLimit.during(consumer, 16_384, () -> strong.decide(purchases)))
        .hasSize(300)
        .allMatch(one -> one.outcome() == Outcome.CONFIRMED);
    assertThat(database.stock(sku)).isEqualTo(700);
  }

  private static List<StrongDecision> decideUnlessBusy(List<StrongPurchase> purchases) {
    return eventually()
        .pollInterval(Duration.ofMillis(5))
        .until(
            () -> strong.decide(purchases),
            all -> all.stream().noneMatch(one -> one.outcome() == Outcome.BUSY));
  }

  /** Of copies of one purchase in several batches, one is stored and the others repeat it. */
  @Test
  void oneKeyIsOneOrder() {
    open("LIMITED", 1, 100);
    Collection<StrongDecision> seen = new ConcurrentLinkedQueue<>();

    Races.race(
        IntStream.range(0, 8)
            .<Runnable>mapToObj(
                racer -> () -> seen.addAll(decideUnlessBusy(List.of(buy(7, "key-00000001", 1)))))
            .toList());

    assertThat(seen).extracting(StrongDecision::orderId).doesNotContainNull();
    assertThat(seen.stream().map(StrongDecision::orderId).distinct()).hasSize(1);
    assertThat(outcomes(seen)).containsOnlyOnce(Outcome.CONFIRMED);
  }

  /** Shoppers may repeat keys, and buy above their limits, as often as they like. */
  @ParameterizedTest
  @CsvSource({
    "key-00000001, 1, REPEATED",
    "key-00000001, 2, IDEMPOTENCY_KEY_REUSED",
    "key-00000002, 1, QUOTA_EXCEEDED"
  })
  void aPurchaseThatAGuardRefusesDoesNotUndoEachBatchThatItIsIn(
      String key, int quantity, Outcome outcome) {
    open("LIMITED", 2, 100);
    assertThat(decide(buy(7, "key-00000001", 1)).outcome()).isEqualTo(Outcome.CONFIRMED);
    assertThat(decide(buy(7, "key-00000003", 1)).outcome()).isEqualTo(Outcome.CONFIRMED);
    double before = conflicts();

    for (int user = 11; user <= 15; user++) {
      List<StrongPurchase> batch =
          List.of(buy(7, key, quantity), buy(user, "key-0000001" + user, 1));
      assertThat(outcomes(strong.decide(batch))).containsExactly(outcome, Outcome.CONFIRMED);
    }

    assertThat(conflicts()).as("of five batches").isLessThanOrEqualTo(before + 1);
  }

  @Test
  void confirmsNothingAfterAPauseWasCommitted() throws Exception {
    open("LIMITED", 2, 100);
    double before = conflicts();

    assertThat(decidedAcross("state = 'PAUSED', state_version = state_version + 1").outcome())
        .isEqualTo(Outcome.PAUSED);
    assertThat(conflicts()).isEqualTo(before + 1);
    assertNothingStored(100);
  }

  @Test
  void decidesAgainWhenTheStockThatItReadIsGone() throws Exception {
    open("LIMITED", 2, 100);

    assertThat(decidedAcross("stock = 0, initial_stock = 0").outcome()).isEqualTo(Outcome.SOLD_OUT);
    assertNothingStored(0);
  }

  /** Changes the product after a purchase has read it and before that takes the stock. */
  private StrongDecision decidedAcross(String change) throws Exception {
    CompletableFuture<StrongDecision> decision;
    try (RowLock row = consumer.lockProduct(sku)) {
      decision = begin(buy(7, "key-00000001", 1));
      awaitTakes(1);
      commit(row, change);
    }
    return Bounded.get(decision);
  }

  /** The next change queues for the row's lock before the one in force is committed. */
  @Test
  void isBusyAfterFourConflicts() throws Exception {
    open("LIMITED", 2, 100);
    double before = conflicts();
    RowLock row = consumer.lockProduct(sku);
    CompletableFuture<StrongDecision> decision = begin(buy(7, "key-00000001", 1));
    for (int conflicts = 1; conflicts <= 4; conflicts++) {
      awaitTakes(1);
      CompletableFuture<RowLock> next =
          CompletableFuture.supplyAsync(() -> consumer.lockProduct(sku), threads);
      awaitStatements(1, "SELECT * FROM products%FOR UPDATE");
      commit(row, "state_version = state_version + 1");
      row.close();
      row = Bounded.get(next);
    }
    row.close();

    assertThat(Bounded.get(decision)).isEqualTo(StrongDecision.of(Outcome.BUSY));
    assertThat(conflicts()).isEqualTo(before + 4);
    assertNothingStored(100);
  }

  @Test
  void isUnknownWhenMySqlFailsAndARepeatFindsOut() throws Exception {
    open("LIMITED", 2, 100);
    CompletableFuture<StrongDecision> decision;
    try (RowLock row = consumer.lockProduct(sku)) {
      decision = begin(buy(7, "key-00000001", 1));
      awaitTakes(1);
      update("KILL " + statements(TAKE).get(0));
      assertThat(Bounded.get(decision)).isEqualTo(StrongDecision.of(Outcome.UNKNOWN));
      commit(row, "stock = stock");
    }
    assertNothingStored(100);

    assertThat(decide(buy(7, "key-00000001", 1)).outcome()).isEqualTo(Outcome.CONFIRMED);
  }

  @Test
  void isBusyBeyondTheBatchesOfItsPartitionWhileOthersAreSold() throws Exception {
    open("LIMITED", 2, 100);
    long otherPartition = NEXT_SKU.incrementAndGet();
    new Sales(consumer).openStrong(otherPartition, "LIMITED", 2, 100);
    List<CompletableFuture<StrongDecision>> waiting = new ArrayList<>();
    try (RowLock row = consumer.lockProduct(sku)) {
      for (int batch = 1; batch <= StrongSales.BATCHES_OF_PARTITION; batch++) {
        waiting.add(begin(buy(batch, "key-00000001", 1)));
      }
      awaitTakes(StrongSales.BATCHES_OF_PARTITION);

      assertThat(decide(buy(99, "key-00000001", 1))).isEqualTo(StrongDecision.of(Outcome.BUSY));
      assertThat(decide(new StrongPurchase(otherPartition, 99, "key-00000001", 1, null)).outcome())
          .isEqualTo(Outcome.CONFIRMED);
      commit(row, "stock = stock");
    }
    for (CompletableFuture<StrongDecision> decision : waiting) {
      assertThat(Bounded.get(decision).outcome()).isEqualTo(Outcome.CONFIRMED);
    }
  }

  /** Whose clocks show the same moment. */
  @Test
  void twoProcessesTakeTwoBlocksOfIds() {
    ConnectionPools pools = consumer.bean(ConnectionPools.class);
    Clock now = Clock.fixed(Clock.systemUTC().instant(), ZoneOffset.UTC);
    OrderId first = new StrongOrderIds(pools, now).next(3, 1).get(0);

    assertThat(new StrongOrderIds(pools, now).next(3, 1).get(0))
        .as("the first id of another block")
        .isNotEqualTo(first);
  }

  @Test
  void idsAreUniqueOverProcesses() {
    ConnectionPools pools = consumer.bean(ConnectionPools.class);
    List<StrongOrderIds> processes =
        List.of(
            new StrongOrderIds(pools, Clock.systemUTC()),
            new StrongOrderIds(pools, Clock.offset(Clock.systemUTC(), Duration.ofSeconds(-30))));
    Collection<OrderId> made = new ConcurrentLinkedQueue<>();

    Races.race(
        processes.stream()
            .<Runnable>map(
                ids ->
                    () -> {
                      for (int i = 0; i < 150; i++) {
                        made.addAll(ids.next(3, 1_000)); // more than two blocks
                      }
                    })
            .toList());

    assertThat(made).hasSize(300_000).doesNotHaveDuplicates();
    assertThat(made).allMatch(id -> id.isDecidedByMySql() && id.partition() == 3);
  }

  @Test
  void idsStayNearTheClockWhenFewAreMade() {
    AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may overflow
    StrongOrderIds ids =
        new StrongOrderIds(consumer.bean(ConnectionPools.class), Clock.systemUTC(), nanos::get);
    long first = ids.next(3, 1).get(0).timeMs();

    nanos.addAndGet(Duration.ofSeconds(5).toNanos() - 1);
    assertThat(ids.next(3, 1).get(0).timeMs()).as("of the same block").isEqualTo(first);
    nanos.incrementAndGet();
    assertThat(ids.next(3, 1).get(0).timeMs()).as("of the next block").isGreaterThan(first);
  }

  /** Ids end in 2094. */
  @ParameterizedTest(name = "{0} days ahead")
  @ValueSource(ints = {2, 80 * 365})
  void aClockFarAheadUsesUpAnHourAtMost(int days) {
    ConnectionPools pools = consumer.bean(ConnectionPools.class);
    long before = database.number("SELECT next_ms FROM order_id_block");
    long inTwoHours = Clock.systemUTC().millis() + Duration.ofHours(2).toMillis();
    try {
      for (Duration ahead : List.of(Duration.ofDays(days), Duration.ZERO)) {
        Clock clock = Clock.offset(Clock.systemUTC(), ahead);
        OrderId id = new StrongOrderIds(pools, clock).next(3, 1).get(0);
        assertThat(id.timeMs()).as("with a clock %s ahead", ahead).isLessThan(inTwoHours);
      }
    } finally {
      update("UPDATE order_id_block SET next_ms = " + before);
    }
  }

  /** A gateway never admits an order of a strong sale, so its message is a defect or a forgery. */
  @Test
  void anOrderFromTheBrokerIsNotStored() throws Exception {
    open("LIMITED", 2, 100);

    StoredBatch batch =
        consumer
            .bean(OrderStore.class)
            .store(List.of(OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 1)));

    assertThat(batch.outcomes())
        .singleElement()
        .isInstanceOfSatisfying(
            Unstorable.class, bad -> assertThat(bad.unfit()).isEqualTo(Unfit.UNKNOWN_SKU));
    assertNothingStored(100);
  }

  private void open(String policy, int limit, long stock) {
    new Sales(consumer).openStrong(sku, policy, limit, stock);
  }

  private StrongPurchase buy(long user, String key, int quantity) {
    return new StrongPurchase(sku, user, key, quantity, null);
  }

  private static StrongDecision decide(StrongPurchase purchase) {
    return strong.decide(List.of(purchase)).get(0);
  }

  private static CompletableFuture<StrongDecision> begin(StrongPurchase purchase) {
    return CompletableFuture.supplyAsync(() -> decide(purchase), threads);
  }

  private static List<Outcome> outcomes(Collection<StrongDecision> decisions) {
    return decisions.stream().map(StrongDecision::outcome).toList();
  }

  private void assertNothingStored(long stock) {
    assertThat(database.number("SELECT COUNT(*) FROM orders WHERE sku_id = " + sku)).isZero();
    assertThat(database.number("SELECT COUNT(*) FROM user_quota WHERE sku_id = " + sku)).isZero();
    assertThat(database.stock(sku)).isEqualTo(stock);
    assertThat(database.settled(sku)).isZero();
  }

  private static double conflicts() {
    return consumer.counter("seckill.consumer.strong.conflicts");
  }

  private static void update(String statement) {
    consumer.update(statement);
  }

  private void commit(RowLock row, String change) {
    row.execute("UPDATE products SET " + change + " WHERE sku_id = " + sku);
    row.commit();
  }

  private static void awaitTakes(int batches) {
    awaitStatements(batches, TAKE);
  }

  private static void awaitStatements(int number, String like) {
    eventually().until(() -> statements(like).size() == number);
  }

  /** The connections that execute such a statement, and here wait for the product's row. */
  private static List<Long> statements(String like) {
    return consumer
        .sql()
        .sql("SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE ?")
        .param(like)
        .query(Long.class)
        .list();
  }
}
