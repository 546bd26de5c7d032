package io.seckill.consumer.storage;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.ONE_PER_USER;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Rejected;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.PacketLimit;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Stores batches that the tests put together, without a broker. */
@ExtendWith(TestServers.class)
class OrderStoreIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(100);

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of("seckill.intake.enabled", "false", "pause.compensationSweeper", "1h"));

  private static final OrderStore store = consumer.bean(OrderStore.class);
  private static final StoredInvariants database = new StoredInvariants(consumer.sql());

  private final long sku = NEXT_SKU.incrementAndGet();

  @AfterEach
  void theLedgerIsSound() {
    database.check();
  }

  @Test
  void countsInsertsRaisesAndRefusalsApart() throws Exception { // facts.md 28
    try (Connection connection = consumer.database().connect()) {
      connection.setAutoCommit(false);
      JdbcOperations jdbc = on(connection);
      assertThat(QuotaTable.raise(jdbc, 1, sku, 1, 2)).as("inserted").isEqualTo(1);
      assertThat(QuotaTable.raise(jdbc, 1, sku, 1, 2)).as("raised").isEqualTo(2);
      assertThat(QuotaTable.raise(jdbc, 1, sku, 1, 2)).as("refused").isZero();
      connection.rollback();
    }
  }

  /** Also where a statement lacks the condition. */
  @Test
  void theTablesRefuseNumbersOfUnitsThatCannotBe() {
    assertRefused(
        "products (name, price_cents, stock, initial_stock, policy, limit_per_user, opens_at,"
            + " closes_at, sku_id) VALUES ('', 1, -1, 1, 'LIMITED', 1, NOW(), NOW(), ?)",
        "ck_products_stock");
    String quota = "user_quota (user_id, owned_count, limit_units, sku_id) VALUES (1, %d, 3, ?)";
    assertRefused(quota.formatted(-1), "ck_user_quota_floor");
    assertRefused(quota.formatted(4), "ck_user_quota_limit");
    assertRefused(
        "orders (order_id, user_id, quantity, unit_price_cents, request_id, status, epoch, seq,"
            + " admitted_at, sku_id) VALUES (1, 1, 0, 1, 'request', 'CONFIRMED', 1, 1, NOW(), ?)",
        "ck_orders_quantity");
  }

  private void assertRefused(String row, String constraint) {
    assertThatThrownBy(() -> consumer.update("INSERT INTO " + row, sku))
        .hasStackTraceContaining(constraint);
  }

  /** The affected rows of a raise (2) and a refusal (0) add up to those of two inserts (1 + 1). */
  @Test
  void isNotFooledByARaiseAndARefusalThatAddUp() throws Exception {
    sale(LIMITED, 3, 100);
    store.store(List.of(order(1, 1), order(2, 3)));
    OrderMessage raise = order(1, 1);
    OrderMessage refusal = order(2, 1);

    LoggedLines lines = LoggedLines.of(StoreMetrics.class);
    StoredBatch batch = store.store(List.of(raise, refusal));
    lines.close();

    assertThat(batch.outcomes())
        .containsExactlyInAnyOrder(
            new Stored(raise), new Rejected(refusal, RejectReason.QUOTA_EXCEEDED));
    assertThat(lines.events())
        .singleElement()
        .satisfies(
            line -> {
              assertThat(line.getLevel()).isEqualTo(Level.WARN);
              assertThat(line.getFormattedMessage())
                  .contains("rejected 1 orders", "QUOTA_EXCEEDED", "order=" + refusal.orderId());
            });
    assertThat(database.stock(sku)).isEqualTo(95);
  }

  @Test
  void addsUpOrdersOfOneUserInABatch() throws Exception {
    sale(LIMITED, 3, 100);
    List<OrderMessage> orders = range(0, 5).mapToObj(i -> order(1, 1)).toList();

    StoredBatch batch = store.store(orders);

    assertThat(batch.outcomes().stream().filter(Stored.class::isInstance)).hasSize(3);
    assertThat(orders.subList(0, 3)).allMatch(o -> database.status(o).equals("CONFIRMED"));
  }

  @Test
  void keepsTheQuotasOfAUserApartBySku() throws Exception {
    long other = NEXT_SKU.incrementAndGet();
    sale(LIMITED, 3, 100);
    new Sales(consumer).openInMySql(other, "LIMITED", 3, 100);
    OrderMessage first = order(1, 1);
    OrderMessage second = OrderFlood.order(other, LIMITED, 1, 2);

    assertThat(store.store(List.of(first, second)).outcomes())
        .containsExactlyInAnyOrder(new Stored(first), new Stored(second));

    String owned = "SELECT COALESCE(SUM(owned_count), 0) FROM user_quota WHERE sku_id = ";
    assertThat(database.number(owned + sku)).isEqualTo(1);
    assertThat(database.number(owned + other)).isEqualTo(2);
  }

  /** Its result has the time at which it was made, not that of the duplicate. */
  private static Known known(
      OrderMessage order, OrderStatus status, @Nullable RejectReason reason) {
    return new Known(order, status, reason, changedAt(order));
  }

  private static long changedAt(OrderMessage order) {
    return database.number(
        "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', updated_at) DIV 1000 FROM orders"
            + " WHERE order_id = "
            + order.orderId());
  }

  @Test
  void knowsAnOrderItHasStored() throws Exception {
    sale(LIMITED, 3, 100);
    OrderMessage order = order(1, 2);
    store.store(List.of(order));

    StoredBatch again = store.store(List.of(order, order(2, 1), order));

    assertThat(again.outcomes())
        .filteredOn(Known.class::isInstance)
        .containsExactly(
            known(order, OrderStatus.CONFIRMED, null), known(order, OrderStatus.CONFIRMED, null));
    assertThat(again.progress())
        .singleElement()
        .satisfies(now -> assertThat(now.readAt()).isGreaterThanOrEqualTo(changedAt(order)));
    assertThat(database.stock(sku)).isEqualTo(97);
    assertThat(database.settled(sku)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"userId", "requestId", "epoch", "seq", "admittedAt"})
  void anotherOrderOfAKnownIdIsUnstorable(String member) throws Exception {
    sale(LIMITED, 3, 100);
    OrderMessage known = order(1, 1);
    store.store(List.of(known));
    OrderMessage other = with(known, member, 20_000_000);

    assertThat(store.store(List.of(other)).outcomes())
        .singleElement()
        .isInstanceOfSatisfying(
            Unstorable.class, bad -> assertThat(bad.unfit()).isEqualTo(Unfit.OTHER_CONTENT));
  }

  /** The same order with this number in a member. */
  private static OrderMessage with(OrderMessage order, String member, long number)
      throws UnreadableMessageException {
    return OrderMessageCodec.decode(
        OrderMessageCodec.encode(order)
            .replaceFirst("(?<=\"" + member + "\":\"?)[^,\"}]+", Long.toString(number)));
  }

  /** Batches are sorted by user, and arrive in any order. */
  @Test
  void keepsTheHighestSequenceNumberOfAllOrders() throws Exception {
    sale(UNLIMITED, 0, 100);
    OrderMessage ninth = with(OrderFlood.order(sku, UNLIMITED, 1, 1), "seq", 9);
    OrderMessage fourth = with(OrderFlood.order(sku, UNLIMITED, 2, 1), "seq", 4);
    OrderMessage fifth = with(OrderFlood.order(sku, UNLIMITED, 3, 1), "seq", 5);

    for (List<OrderMessage> batch : List.of(List.of(ninth, fourth), List.of(fifth))) {
      assertThat(store.store(batch).outcomes()).allMatch(Stored.class::isInstance);
      assertThat(consumer.product(sku, "last_seq")).isEqualTo("9");
    }
  }

  @Test
  void writesPendingCompensationsOfKnownOrdersAgain() throws Exception {
    sale(LIMITED, 1, 100);
    OrderMessage refused = order(1, 2);
    StoredBatch first = store.store(List.of(refused));

    StoredBatch again = store.store(List.of(refused));

    assertThat(first.compensations()).hasSize(1);
    assertThat(again.compensations()).isEqualTo(first.compensations());
    assertThat(again.outcomes())
        .containsExactly(known(refused, OrderStatus.REJECTED, RejectReason.QUOTA_EXCEEDED));
  }

  @Test
  void keepsTheOnePlaceEvenWhenTheQuotaRowIsGone() throws Exception {
    sale(ONE_PER_USER, 1, 100);
    store.store(List.of(OrderFlood.order(sku, ONE_PER_USER, 1, 1)));
    consumer.update("DELETE FROM user_quota WHERE sku_id = ?", sku);
    OrderMessage second = OrderFlood.order(sku, ONE_PER_USER, 1, 1);

    assertThat(store.store(List.of(second)).outcomes())
        .containsExactly(new Rejected(second, RejectReason.QUOTA_EXCEEDED));
    try (Connection connection = consumer.database().connect()) {
      QuotaTable.raise(on(connection), 1, sku, 1, 1);
    }
  }

  @Test
  void aRejectedOrderLeavesTheOnePlaceOfItsUserFree() throws Exception {
    sale(ONE_PER_USER, 1, 1);
    OrderMessage last = OrderFlood.order(sku, ONE_PER_USER, 1, 1);
    OrderMessage tooLate = OrderFlood.order(sku, ONE_PER_USER, 2, 1);
    assertThat(store.store(List.of(last, tooLate)).outcomes())
        .contains(new Rejected(tooLate, RejectReason.SOLD_OUT));
    consumer.update(
        "UPDATE products SET stock = 1, initial_stock = initial_stock + 1 WHERE sku_id = ?", sku);
    OrderMessage another = OrderFlood.order(sku, ONE_PER_USER, 2, 1);

    assertThat(store.store(List.of(another)).outcomes()).containsExactly(new Stored(another));
  }

  @Test
  void keepsNoQuotaOfUnlimitedSkus() throws Exception {
    sale(UNLIMITED, 0, 10);
    OrderMessage fits = OrderFlood.order(sku, UNLIMITED, 1, 10);
    OrderMessage tooLate = OrderFlood.order(sku, UNLIMITED, 1, 1);

    StoredBatch batch = store.store(List.of(fits, tooLate));

    assertThat(batch.outcomes())
        .containsExactlyInAnyOrder(new Stored(fits), new Rejected(tooLate, RejectReason.SOLD_OUT));
    assertThat(batch.compensations()).as("neither stock nor quota to compensate").isEmpty();
    assertThat(database.number("SELECT COUNT(*) FROM user_quota WHERE sku_id = " + sku)).isZero();
  }

  /** The SKU whose stock is taken last has enough. */
  @Test
  void rejectsAnOrderOfTheFirstSkuOfABatchThatIsSoldOut() throws Exception {
    long other = NEXT_SKU.incrementAndGet();
    sale(UNLIMITED, 0, 1);
    new Sales(consumer).openInMySql(other, "UNLIMITED", 0, 10);
    OrderMessage tooLate = OrderFlood.order(sku, UNLIMITED, 1, 2);
    OrderMessage fits = OrderFlood.order(other, UNLIMITED, 1, 2);

    StoredBatch batch = store.store(List.of(tooLate, fits));

    assertThat(batch.outcomes())
        .containsExactlyInAnyOrder(new Stored(fits), new Rejected(tooLate, RejectReason.SOLD_OUT));
    assertThat(database.stock(sku)).isEqualTo(1);
  }

  @Test
  void blamesOneRefusedRowOnItsOrderAlone() throws Exception { // fault 24
    sale(LIMITED, 3, 100);
    List<OrderMessage> orders = range(1, 51).mapToObj(user -> order(user, 1)).toList();
    StoredBatch batch = refusing("NEW.user_id = 17", "45000", 1644, () -> store.store(orders));

    assertThat(batch.outcomes()).hasSize(50);
    assertThat(batch.outcomes().stream().filter(Stored.class::isInstance)).hasSize(49);
    assertThat(batch.outcomes().stream().filter(Failed.class::isInstance))
        .singleElement()
        .satisfies(failed -> assertThat(failed.order().userId()).isEqualTo(17));
    assertThat(database.stock(sku)).isEqualTo(51);
  }

  /** A statement that is refused whenever it holds one order, as too large, too long, forbidden. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"08S01, 1153", "HY000, 1206", "70100, 1969"})
  void storesAllButTheOrderWhoseStatementIsRefused(String state, int error) throws Exception {
    sale(LIMITED, 3, 100);
    List<OrderMessage> orders = range(1, 51).mapToObj(user -> order(user, 1)).toList();

    StoredBatch batch = refusing("NEW.user_id = 17", state, error, () -> store.store(orders));

    assertThat(batch.outcomes().stream().filter(Stored.class::isInstance)).hasSize(49);
    assertThat(batch.outcomes().stream().filter(Failed.class::isInstance))
        .singleElement()
        .satisfies(failed -> assertThat(failed.order().userId()).isEqualTo(17))
        .satisfies(failed -> assertThat(((Failed) failed).detail()).contains("poison"));
  }

  @Test
  void storesABatchThatIsLargerThanMySqlAccepts() throws Exception {
    sale(LIMITED, 3, 1_000);
    List<OrderMessage> orders = range(1, 301).mapToObj(user -> order(user, 1)).toList();

    assertThat(PacketLimit.during(consumer, 16_384, () -> store.store(orders).outcomes()))
        .hasSize(300)
        .allMatch(Stored.class::isInstance);
    assertThat(database.stock(sku)).isEqualTo(700);
  }

  @Test
  void blamesNoOrderWhenTheStatementsOfAllAreRefused() throws Exception {
    sale(LIMITED, 3, 100);
    List<OrderMessage> orders = range(1, 51).mapToObj(user -> order(user, 1)).toList();
    OrderMessage stored = order(51, 1);
    OrderMessage alias = AdmittedSale.copy(order(51, 1), stored.requestId(), LIMITED);
    OrderMessage unfit = OrderFlood.order(sku, UNLIMITED, 52, 1);
    store.store(List.of(stored, alias));
    List<OrderMessage> batch =
        Stream.concat(orders.stream(), Stream.of(stored, alias, unfit)).toList();

    for (List<OrderMessage> refused : List.of(orders, batch)) {
      assertThatThrownBy(() -> refusing("TRUE", "42000", 1148, () -> store.store(refused)))
          .as("%s orders", refused.size())
          .isInstanceOf(DatabaseUnavailableException.class);
    }
    assertThat(store.store(orders).outcomes()).allMatch(Stored.class::isInstance);
  }

  /** Shoppers can bring aliases at will: Redis forgets the keys of cancelled orders. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "stored, Known",
    "request of a stored order, Alias",
    "request of a new order, Alias",
    "other policy, Unstorable"
  })
  void decidesOrdersWithoutARowApartFromTheOthersOfTheirBatch(String kind, String outcome)
      throws Exception {
    sale(LIMITED, 3, 1_000);
    List<OrderMessage> stored = range(1, 21).mapToObj(user -> order(user, 1)).toList();
    store.store(stored);
    double splits = splits();

    for (int round = 0; round < 3; round++) {
      List<OrderMessage> others = range(100, 180).mapToObj(user -> order(user, 1)).toList();
      List<OrderMessage> batch = new ArrayList<>(others);
      batch.addAll(
          switch (kind) {
            case "stored" -> stored;
            case "request of a stored order" -> aliases(stored);
            case "request of a new order" -> aliases(others.subList(0, 20));
            default ->
                range(1, 21).mapToObj(user -> OrderFlood.order(sku, UNLIMITED, user, 1)).toList();
          });
      List<StoreOutcome> outcomes = store.store(batch).outcomes();

      assertThat(outcomes.stream().filter(Stored.class::isInstance)).hasSize(80);
      assertThat(outcomes)
          .filteredOn(one -> one.getClass().getSimpleName().equals(outcome))
          .hasSize(20);
    }

    assertThat(splits()).as("batches decided order by order").isEqualTo(splits);
    assertThat(database.stock(sku)).isEqualTo(740);
  }

  private List<OrderMessage> aliases(List<OrderMessage> orders) {
    return orders.stream()
        .map(order -> AdmittedSale.copy(order(order.userId(), 1), order.requestId(), LIMITED))
        .toList();
  }

  @Test
  void storesTheSameOrdersFromManyThreadsOnce() throws Exception { // fault 26
    sale(LIMITED, 5, 1_000);
    List<OrderMessage> orders = range(1, 101).mapToObj(user -> order(user, 2)).toList();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    List<Future<StoredBatch>> running = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      List<OrderMessage> reordered = new ArrayList<>(orders);
      java.util.Collections.shuffle(reordered);
      running.add(threads.submit(() -> store.store(reordered)));
    }
    long stored = 0;
    for (Future<StoredBatch> one : running) {
      stored += Bounded.get(one).outcomes().stream().filter(Stored.class::isInstance).count();
    }
    threads.shutdown();

    assertThat(stored).isEqualTo(100);
    assertThat(database.stock(sku)).isEqualTo(800);
    assertThat(database.settled(sku)).isEqualTo(100);
  }

  @Test
  void waitsOutALockWithoutKeepingHalfABatch() throws Exception { // facts.md 32, fault 27
    sale(LIMITED, 5, 100);
    List<OrderMessage> orders = range(1, 11).mapToObj(user -> order(user, 1)).toList();
    Future<StoredBatch> storing;
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (RowLock held = consumer.lock("UPDATE products SET name = 'held' WHERE sku_id = " + sku)) {
      storing = thread.submit(() -> store.store(orders));
      eventually().until(() -> lockRetries() >= 1);
      assertThat(database.number("SELECT COUNT(*) FROM orders WHERE sku_id = " + sku))
          .as("half a batch")
          .isZero();
      held.release();
    }
    StoredBatch batch = Bounded.get(storing);
    thread.shutdown();

    assertThat(batch.outcomes()).hasSize(10).allMatch(Stored.class::isInstance);
    assertThat(database.stock(sku)).isEqualTo(90);
  }

  @Test
  void callsAReadOnlyServerUnavailable() throws Exception { // fault 28, error 1290
    sale(LIMITED, 5, 100);
    OrderMessage order = order(1, 1);
    DatabaseWriteProbe probe = consumer.bean(DatabaseWriteProbe.class);
    try (Connection root = TestServers.mysql().rootConnection();
        Statement sql = root.createStatement()) {
      sql.execute("SET GLOBAL read_only = 1");
      try {
        assertThatThrownBy(() -> store.store(List.of(order)))
            .isInstanceOf(DatabaseUnavailableException.class);
        assertThatThrownBy(() -> probe.write(false)).isInstanceOf(java.sql.SQLException.class);
      } finally {
        sql.execute("SET GLOBAL read_only = 0");
      }
    }
    probe.write(false);
    assertThat(store.store(List.of(order)).outcomes()).containsExactly(new Stored(order));
  }

  /** So that an idle writer does not take a slow MySQL for one that is lost. */
  @Test
  void aPatientProbeWaitsAsLongAsABatch() throws Exception {
    DatabaseWriteProbe probe = consumer.bean(DatabaseWriteProbe.class);
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (RowLock held = consumer.lock("LOCK TABLES order_alias WRITE")) {
      Future<?> patient =
          thread.submit(
              () -> {
                probe.write(true);
                return null;
              });
      eventually().until(() -> consumer.executing("DELETE FROM order_alias%").isPresent());
      assertThatThrownBy(() -> probe.write(false)).isInstanceOf(java.sql.SQLException.class);
      assertThat(patient).isNotDone();
      held.release();
      Bounded.get(patient);
    }
    thread.shutdown();
  }

  @Test
  void aliasesGetTheirUnitsBackAndAreKnownAfterwards() throws Exception {
    sale(LIMITED, 5, 100);
    OrderMessage first = order(1, 2);
    OrderMessage second = order(1, 3);
    OrderMessage same = AdmittedSale.copy(second, first.requestId(), LIMITED);

    StoredBatch batch = store.store(List.of(first, same));
    StoredBatch again = store.store(List.of(same));

    assertThat(batch.outcomes())
        .containsExactlyInAnyOrder(new Stored(first), new Alias(same, first.orderId(), true));
    assertThat(batch.compensations())
        .singleElement()
        .satisfies(owed -> assertThat(owed.stockUnits() + owed.quotaUnits()).isEqualTo(6));
    assertThat(again.outcomes()).containsExactly(new Alias(same, first.orderId(), false));
    assertThat(again.compensations()).isEqualTo(batch.compensations());
  }

  @ParameterizedTest(name = "reserves all: {0}")
  @CsvSource({"true, 8", "false, 5"})
  void aReserveShrinksByAllOrdersAndOneOfEverythingByThoseStored(boolean all, long left)
      throws Exception {
    sale(UNLIMITED, 0, 10);
    try (Connection connection = consumer.database().connect()) {
      connection.setAutoCommit(false);
      JdbcOperations jdbc = on(connection);
      jdbc.update(
          "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', reserved_units = 10,"
              + " reserves_all = ? WHERE sku_id = ?",
          all,
          sku);

      assertThat(ProductTable.take(jdbc, sku, 2, 1, 5, 3, 3)).isTrue();

      assertThat(reservedUnits(jdbc)).isEqualTo(left);
      connection.rollback();
    }
  }

  /** Nothing is reserved for those of the epoch before. */
  @Test
  void aReserveShrinksByTheOrdersOfTheLastEpochOfABatch() throws Exception {
    sale(LIMITED, 3, 100);
    try (Connection connection = consumer.database().connect()) {
      connection.setAutoCommit(false);
      JdbcOperations jdbc = on(connection);
      jdbc.update(
          "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', epoch = 3,"
              + " reserved_units = 10, reserves_all = FALSE WHERE sku_id = ?",
          sku);
      BatchTally tally = new BatchTally();
      tally.add(order(1, 3), OrderFate.CONFIRMED);
      tally.add(with(order(2, 1), "epoch", 2), OrderFate.CONFIRMED);

      assertThat(tally.take(jdbc)).isTrue();

      assertThat(reservedUnits(jdbc)).isEqualTo(9);
      connection.rollback();
    }
  }

  private long reservedUnits(JdbcOperations jdbc) {
    return jdbc.queryForObject(
        "SELECT reserved_units FROM products WHERE sku_id = ?", Long.class, sku);
  }

  @Test
  void countsTheUnitsOfTheEpochBeforeAsLate() throws Exception {
    sale(LIMITED, 3, 100);
    consumer.update("UPDATE products SET epoch = 2 WHERE sku_id = ?", sku);

    store.store(List.of(order(1, 3), with(order(2, 1), "epoch", 2)));

    assertThat(
            consumer.text(
                "SELECT CONCAT_WS(' ', epoch, late_units) FROM admitted_units WHERE sku_id = ?",
                sku))
        .isEqualTo("2 3");
  }

  /** Another order-consumer received the same delivery and commits between two of the reads. */
  @ParameterizedTest(name = "before read {0}")
  @ValueSource(ints = {1, 2, 3, 4})
  void anOrderStoredMeanwhileIsNoSecondOrderOfItsRequest(int read) throws Exception {
    sale(ONE_PER_USER, 1, 100);
    OrderMessage order = OrderFlood.order(sku, ONE_PER_USER, 1, 1);
    try (Connection connection = consumer.database().connect()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      Map<Long, SaleRules> rules = ProductTable.rules(on(connection), List.of(sku));
      PerOrderPath orders =
          new PerOrderPath(
              on(beforeStatement(read, connection, () -> store.store(List.of(order)))), rules);
      try {
        assertThat(orders.decide(List.of(order)).outcomes())
            .containsExactly(known(order, OrderStatus.CONFIRMED, null));
      } catch (DataAccessException e) { // the order is then decided again
        assertThat(SqlFailure.of(e)).as("%s", e).isEqualTo(SqlFailure.ROW);
      }
      connection.rollback();
    }
  }

  /** Does the work while MySQL refuses rows of {@code orders} that meet the condition. */
  private static <T> T refusing(String condition, String state, int error, Callable<T> work)
      throws Exception {
    try (Connection root = TestServers.mysql().rootConnection();
        Statement sql = root.createStatement()) {
      sql.execute("USE " + consumer.database().name());
      sql.execute(
          ("CREATE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW IF %s THEN"
                  + " SIGNAL SQLSTATE '%s' SET MYSQL_ERRNO = %d, MESSAGE_TEXT = 'poison'; END IF")
              .formatted(condition, state, error));
      try {
        return work.call();
      } finally {
        sql.execute("DROP TRIGGER poison");
      }
    }
  }

  private static double splits() {
    return consumer.counter("seckill.consumer.splits");
  }

  private static JdbcOperations on(Connection connection) {
    return new JdbcTemplate(new SingleConnectionDataSource(connection, true));
  }

  private static Connection beforeStatement(int number, Connection connection, Callable<?> work) {
    AtomicInteger statements = new AtomicInteger();
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, args) -> {
              boolean statement = method.getName().equals("prepareStatement");
              if (statement && statements.incrementAndGet() == number) {
                work.call();
              }
              return method.invoke(connection, args);
            });
  }

  private void sale(PurchasePolicy policy, int limit, long stock) {
    new Sales(consumer).openInMySql(sku, policy.name(), limit, stock);
  }

  private OrderMessage order(long userId, int quantity) {
    return OrderFlood.order(sku, LIMITED, userId, quantity);
  }

  private static double lockRetries() {
    return consumer.counter("seckill.consumer.lock.retries");
  }
}
