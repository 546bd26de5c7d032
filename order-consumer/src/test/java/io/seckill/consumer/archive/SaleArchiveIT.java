package io.seckill.consumer.archive;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.runtime.SweeperPauses;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StrongSales;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.SaleInFlight;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.OrderTotalSql;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.JsonNode;

/** A finished sale leaves Redis and the tables of running sales, and stays what it was. */
@ExtendWith(TestServers.class)
class SaleArchiveIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(22_000);

  /** Of InnoDB's status: the rows that the transaction of a connection has locked. */
  private static final String LOCKED = "(\\d+) row lock\\(s\\).*\\n.* thread id %d,";

  private static final String BEGUN =
      "UPDATE archive SET started_at = NOW(6) + INTERVAL ? MINUTE WHERE sku_id = ?";

  private static final TestConsumer consumer = TestConsumer.shared();

  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());

  private final long sku = NEXT_SKU.getAndIncrement();
  private final StoredOrderFixture stored = new StoredOrderFixture(consumer);

  /** A ledger compares the whole partition, in which other tests leave sales of all kinds. */
  @BeforeAll
  static void emptyPartitions() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      consumer.redis().del(RedisKeys.skus(partition));
    }
  }

  @Test
  void movesEverythingAndChangesNothingThatAnyoneIsTold() throws Exception {
    SaleInFlight sale = SaleInFlight.open(sku, 100, consumer, flood);
    InternalApi operator = consumer.api().with("Idempotency-Key", "archive-" + sku);
    Answer added =
        operator.post("/internal/v1/skus/" + sku + "/stock", "{\"delta\":5,\"reason\":\"test\"}");
    assertThat(added.text("state")).as(added.text()).isEqualTo("DONE");
    OrderMessage paid = sale.order(7, 3);
    OrderMessage cancelled = sale.order(8, 2);
    sale.admit(paid, cancelled);
    sale.claim(2);
    sale.publish(paid, cancelled);
    eventually().until(() -> rows("orders") == 2);
    assertThat(consumer.api().pay(paid.orderId(), 7).status()).isEqualTo(200);
    assertThat(consumer.api().cancel(cancelled.orderId(), 8).status()).isEqualTo(200);
    close();
    String repair = "/internal/v1/skus/" + sku + "/reconciliation"; // writes the orders' records
    assertThat(consumer.api().post(repair, "{\"dryRun\":false}").status()).isEqualTo(200);
    JsonNode before = // the last one read may be given again
        eventually()
            .until(
                this::ledger,
                read ->
                    read.at("/units/confirmed").longValue() == 0
                        && read.at("/units/compensating").longValue() == 0);
    assertThat(audit().path("differences").toString()).isEqualTo("[]");

    begin(sku);
    waitsForGateways();
    finish();

    assertThat(archive().text("phase")).isEqualTo("DONE");
    assertThat(archive().number("orders")).isEqualTo(2);
    assertThat(consumer.redis().keys("*:" + sku + "*")).isEmpty();
    assertThat(consumer.redis().smembers(RedisKeys.skus(Partition.ofSku(sku))))
        .doesNotContain(Long.toString(sku));
    for (String table : List.of("orders", "user_quota", "compensation")) {
      assertThat(rows(table)).as(table).isZero();
    }
    assertThat(rows("order_history")).isEqualTo(2);
    assertThat(rows("stock_change")).as("of an operator").isEqualTo(1);
    assertThat(ledger().path("balanced").booleanValue()).isTrue();
    assertThat(ledger().path("units")).isEqualTo(before.path("units"));
    assertThat(ledger().path("orders").path("paid")).isEqualTo(before.at("/orders/paid"));
    JsonNode audited = audit();
    assertThat(audited.path("differences").toString()).isEqualTo("[]");
    assertThat(audited.at("/paid/units").longValue()).isEqualTo(3);
    assertThat(audited.path("chargedCents").longValue()).isEqualTo(3 * 9_900);
    assertThat(consumer.api().pay(paid.orderId(), 7).text("status")).isEqualTo("PAID");
    assertThat(consumer.api().cancel(paid.orderId(), 7).code()).isEqualTo("NOT_CANCELLABLE");
    assertThat(decide(7, paid.requestId(), 3).orderId()).isEqualTo(paid.orderId());
    assertThat(decide(7, paid.requestId(), 1).outcome())
        .isEqualTo(StrongDecision.Outcome.IDEMPOTENCY_KEY_REUSED);
    assertThat(decide(7, "another-key", 1).outcome()).isEqualTo(StrongDecision.Outcome.CLOSED);
    lateMessagesHarmNothing(paid);
  }

  /** Shoppers and operators see the SKU alone, before and after. */
  @Tag("proof")
  @Test
  void movesTheOrdersOfAllShards() {
    String path = "/internal/v1/skus/" + sku;
    InternalApi api = consumer.api();
    List<OrderId> sold = new ArrayList<>();
    for (long shard : openShards()) {
      OrderId order = sold(shard, 7 + sold.size());
      assertThat(api.pay(order, 7 + sold.size()).status()).isEqualTo(200);
      sold.add(order);
    }
    for (long id : List.of(sku, Shards.id(sku, 1))) {
      consumer.update(
          "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
              + " VALUES (?, 'change', 1, '', '', 1, 'REFUSED')",
          id);
    }
    close();
    eventually().until(() -> archive().text("phase"), "REDIS"::equals);
    JsonNode before = ledger();

    finish();

    assertThat(archive().number("orders")).isEqualTo(4);
    assertThat(api.post(path + "/preheat").code()).isEqualTo("ARCHIVED");
    for (long shard : Shards.ids(sku, 4)) {
      assertThat(consumer.redis().keys("*:" + shard + "*")).isEmpty();
      for (String table : List.of("orders", "stock_change")) {
        assertThat(rows(table, shard)).as(table).isZero();
      }
    }
    assertThat(rows("stock_change")).as("of an operator").isEqualTo(1);
    assertThat(ledger().path("balanced").booleanValue()).as(ledger().toString()).isTrue();
    assertThat(ledger().path("units")).isEqualTo(before.path("units"));
    assertThat(ledger().at("/orders/paid").longValue()).isEqualTo(4);
    assertThat(audit().path("differences").toString()).isEqualTo("[]");
    assertThat(audit().at("/paid/units").longValue()).isEqualTo(4);
    assertThat(api.get(path).number("stock")).isEqualTo(398);
    assertThat(api.pay(sold.get(2), 9).text("status")).isEqualTo("PAID");
  }

  /** The shards, in the order of ids. */
  private List<Long> openShards() {
    String path = "/internal/v1/skus/" + sku;
    String four = "\"shards\":4,\"stock\"";
    consumer.api().put(path, Sales.product("ONE_PER_USER", 1, 402).replace("\"stock\"", four));
    consumer.api().post(path + "/preheat");
    eventually().until(() -> consumer.api().post(path + "/open").status() == 200);
    return Shards.ids(sku, 4);
  }

  /** An order that Redis has admitted, and MySQL has stored. */
  private OrderId sold(long shard, long user) {
    OrderId order = stored.confirmed(shard, user, 1);
    consumer.redis().hset(RedisKeys.sku(shard), "seq", consumer.product(shard, "last_seq"));
    for (String count : List.of("admitted", "published")) {
      consumer.redis().hincrBy(RedisKeys.sku(shard), count + "Orders", 1);
      consumer.redis().hincrBy(RedisKeys.sku(shard), count + "Units", 1);
    }
    return order;
  }

  /** A shard that is archived sells nothing any more, and its SKU could not either. */
  @Test
  void archivesNoShardOfASkuWhileOneIsNotAtRest() {
    List<Long> shards = openShards();
    sold(shards.get(2), 7);
    consumer.update(
        "INSERT INTO daily_audit SELECT UTC_DATE(), ?, 'CLOSED', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
            + " 0, 0, 0, 0, 3, '', NOW(6)",
        shards.get(3));
    close();

    Answer refused = archive();

    assertThat(refused.code()).isEqualTo("NOT_AT_REST");
    assertThat(refused.text("detail"))
        .contains(
            "shard " + Shards.shard(shards.get(2)) + ": 1 orders that may still be paid",
            "shard " + Shards.shard(shards.get(3)) + ": 3 differences");
    assertThat(archivesOf(shards)).isZero();
    assertThat(consumer.api().post("/internal/v1/skus/" + sku + "/preheat").status())
        .isEqualTo(200);

    shards.forEach(SaleArchiveIT::closedLongAgo);
    closedLongAgo(sku);
    consumer.bean(SaleArchiver.class).beginDue(Duration.ofDays(7));

    assertThat(consumer.product(sku, "state")).isEqualTo("CLOSED");
    assertThat(archivesOf(shards)).as("by the schedule").isZero();
  }

  private static void closedLongAgo(long id) {
    consumer.update("UPDATE products SET closes_at = NOW() - INTERVAL 8 DAY WHERE sku_id = ?", id);
  }

  private static long archivesOf(List<Long> shards) {
    return shards.stream().mapToLong(id -> rows("archive", id)).sum();
  }

  /** An audit after its end is the last one of the SKU, and counts the orders of its shards. */
  @Test
  void theArchiveOfASkuEndsAfterThoseOfItsShards() {
    List<Long> shards = openShards();
    close();
    begin(sku);
    shards.forEach(shard -> consumer.update(BEGUN, 1, shard)); // they wait for gateways
    ArchiveTable table = consumer.bean(ArchiveTable.class);

    assertThat(table.unfinished()).containsAll(shards).doesNotContain(sku);
    assertThat(table.find(sku).orElseThrow().phase()).isEqualTo(ArchivePhase.ORDERS);

    String done = "UPDATE archive SET phase = 'DONE', done_at = NOW(6) WHERE sku_id = ?";
    shards.forEach(shard -> consumer.update(done, shard));
    finish();
  }

  /** Until they have read that MySQL decides the sale, they may still admit in Redis. */
  private void waitsForGateways() {
    consumer.update(BEGUN, 1, sku);

    consumer.bean(SaleArchiver.class).round();

    assertThat(archive().text("phase")).isEqualTo("REDIS");
    assertThat(consumer.redis().exists(RedisKeys.sku(sku))).isTrue();
    consumer.update(BEGUN, 0, sku);
  }

  /** Gateways have read it within two seconds; a third is for clocks. */
  @Test
  void waitsThreeSecondsAtLeastForGateways() {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();
    begin(sku);
    consumer.update(BEGUN, 1, sku); // the service itself waits
    List<Duration> waits = new ArrayList<>();
    ArchiveTable table =
        new ArchiveTable(consumer.sql()) {
          @Override
          boolean isOlderThan(long any, Duration age) {
            waits.add(age);
            return false;
          }
        };

    roundUntil(archiver(table), () -> !waits.isEmpty());

    assertThat(waits).allMatch(age -> age.compareTo(Duration.ofSeconds(3)) >= 0);
    consumer.update(BEGUN, 0, sku);
    finish();
  }

  private static SaleArchiver archiver(ArchiveTable table) {
    return archiver(table, consumer.bean(ArchiveSteps.class));
  }

  private static SaleArchiver archiver(ArchiveTable table, ArchiveSteps steps) {
    return archiver(table, steps, consumer.bean(SaleArchiver.class).jdbc());
  }

  private static SaleArchiver archiver(ArchiveTable table, ArchiveSteps steps, JdbcClient jdbc) {
    SaleArchiver real = consumer.bean(SaleArchiver.class);
    return new SaleArchiver(
        table,
        real.rest(),
        steps,
        real.sales(),
        real.pools(),
        jdbc,
        real.transactions(),
        real.pace());
  }

  /** The service's own round may hold the lock. */
  private static void roundUntil(SaleArchiver archiver, Callable<Boolean> done) {
    eventually()
        .until(
            () -> {
              archiver.round();
              return done.call();
            });
  }

  private void lateMessagesHarmNothing(OrderMessage known) throws DatabaseUnavailableException {
    JsonNode before = ledger();
    OrderMessage late = OrderFlood.order(sku, known.policy(), 9, 1);

    flood.publish(known, late, known);

    eventually()
        .until(
            () ->
                consumer.number(
                        "SELECT COUNT(*) FROM dead_letter WHERE order_id = ? AND reason ="
                            + " 'UNKNOWN_SKU'",
                        late.orderId().value())
                    == 1);
    assertThat(
            consumer.number(
                "SELECT COUNT(*) FROM dead_letter WHERE order_id = ?", known.orderId().value()))
        .isZero();
    // As by an operator who had begun to discard a dead letter when the archive began.
    OrderMessage other = AdmittedSale.copy(known, "another-request", known.policy());
    assertThat(consumer.bean(OrderStore.class).discard(other).outcomes())
        .singleElement()
        .isInstanceOf(StoreOutcome.Unstorable.class);
    assertThat(rows("orders")).isZero();
    assertThat(rows("compensation")).isZero();
    assertThat(consumer.redis().keys("*:" + sku + "*")).isEmpty();
    eventually()
        .untilAsserted(() -> assertThat(ledger().path("orders")).isEqualTo(before.path("orders")));
    assertThat(audit().path("differences").toString()).isEqualTo("[]");
  }

  @Test
  void movesNoPageWithARefundThatIsDue() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10);
    long order = seed(1);
    close();
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      refundIsDue(order);

      assertThatThrownBy(() -> consumer.bean(ArchiveSteps.class).moveOrders(sku, 0))
          .hasMessageContaining("1 payments");

      assertThat(rows("orders")).isEqualTo(1);
      consumer.update("UPDATE payment SET check_at = NOW(6) WHERE order_id = ?", order);
      consumer.sweep("paymentSweeper");
      assertThat(archives.isHeld()).isTrue();
    }
    finish();
    assertThat(consumer.text("SELECT state FROM payment_history WHERE order_id = ?", order))
        .isEqualTo("REFUNDED");
  }

  /** As the report of a charge leaves it while the provider refuses the refund. */
  private static void refundIsDue(long order) {
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, charge_id, state, asked_at, check_at) VALUES"
            + " (?, 9900, 'late', 'REFUND_DUE', NOW(6) - INTERVAL 1 DAY,"
            + " NOW(6) + INTERVAL 1 MINUTE)",
        order);
  }

  @Test
  void nothingOfAnArchivedSaleCanBeChanged() {
    archivedSale();
    String columns = "CONCAT_WS(' ', state, epoch, stock, closes_at, decides)";
    String row = consumer.product(sku, columns);
    String path = "/internal/v1/skus/" + sku;
    InternalApi keyed = consumer.api().with("Idempotency-Key", "more-units");

    Map<String, Answer> answers =
        Map.of(
            "preheat", consumer.api().post(path + "/preheat", "{}"),
            "open", consumer.api().post(path + "/open", "{}"),
            "resume", consumer.api().post(path + "/resume", "{}"),
            "state", consumer.api().post(path + "/state", "{\"state\":\"OPEN\"}"),
            "edit", consumer.api().put(path, Sales.product("LIMITED", 100, 10)),
            "stock", keyed.post(path + "/stock", "{\"delta\":5,\"reason\":\"more\"}"));

    answers.forEach(
        (action, answer) -> {
          assertThat(answer.status()).as(action + " " + answer.text()).isEqualTo(409);
          assertThat(answer.code()).as(action).isEqualTo("ARCHIVED");
        });
    assertThat(consumer.product(sku, columns)).isEqualTo(row);
  }

  private static void begin(long sku) {
    Answer begun = archive(sku);
    assertThat(begun.status()).as(begun.text()).isEqualTo(200);
  }

  private void archivedSale() {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();
    begin(sku);
    finish();
  }

  @Test
  void anArchiveThatFailsKeepsNoOtherWaiting() {
    List<Long> tried = new ArrayList<>();
    ArchiveTable table =
        new ArchiveTable(consumer.sql()) {
          @Override
          List<Long> unfinished() {
            return List.of(1L, 2L);
          }

          @Override
          Optional<SaleArchive> find(long each) {
            tried.add(each);
            throw new IllegalStateException("for the test");
          }
        };

    roundUntil(archiver(table), () -> !tried.isEmpty());

    assertThat(tried).containsExactly(1L, 2L);
  }

  @Test
  void namesEverythingThatASaleStillWaitsFor() {
    SaleInFlight.open(sku, 100, consumer, flood);
    assertThat(archive().text()).contains("it is OPEN, not CLOSED");
    ledger(); // its last reading has none of the orders
    stored.confirmed(sku, 7, 3);
    OrderId paid = stored.confirmed(sku, 8, 2);
    close();
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, state, check_at)"
            + " VALUES (?, 1, 'STARTED', NOW(6) + INTERVAL 1 HOUR)",
        paid.value());
    consumer.update(
        "INSERT INTO unexplained_charge (report_hash, kind, charge_id, order_id, reason, detail)"
            + " VALUES (UNHEX(SHA2(?, 256)), 'CHARGED', 'c', ?, 'OTHER_AMOUNT', '')",
        "archive " + sku,
        paid.value());
    consumer.update(
        "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units)"
            + " VALUES (?, ?, 8, 9, 1, 1)", // the sweep waits: Redis has an older epoch
        paid.value(),
        sku);
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, 'change', -1, '', '', 9, 'UNDOING')", // as above
        sku);
    consumer.update(
        "INSERT INTO dead_letter (order_id, sku_id, payload, payload_hash, reason, detail,"
            + " attempts, first_failed_at, last_failed_at) VALUES"
            + " (?, ?, '{}', UNHEX(SHA2(?, 256)), '', '', 1, NOW(), NOW())",
        paid.value(),
        sku,
        "archive " + sku);
    for (int daysAgo : List.of(1, 0)) {
      consumer.update(
          "INSERT INTO daily_audit SELECT UTC_DATE() - INTERVAL ? DAY, ?, 'CLOSED', 0, 0, 0, 0, 0,"
              + " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, '', NOW(6)",
          daysAgo,
          sku,
          3 + 5 * daysAgo);
    }

    Answer refused = archive();

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("NOT_AT_REST");
    assertThat(refused.text("detail"))
        .contains(
            "2 orders that may still be paid",
            "1 payments that the provider may still book",
            "1 open unexplained charges",
            "1 open dead letters",
            "1 compensations that Redis has not confirmed",
            "1 unfinished stock changes",
            "3 differences that its last audit has found");
    assertThat(consumer.product(sku, "archived")).isEqualTo("0");
    assertThat(rows("archive")).isZero();
    consumer.update("DELETE FROM unexplained_charge WHERE order_id = ?", paid.value());
    consumer.update("DELETE FROM dead_letter WHERE sku_id = ?", sku);
    consumer.update("DELETE FROM payment WHERE order_id = ?", paid.value());
    consumer.update("DELETE FROM compensation WHERE sku_id = ?", sku);
    consumer.update("DELETE FROM stock_change WHERE sku_id = ?", sku);
  }

  /** As when an order was missed, which has come into a list since the ledger was read. */
  @Test
  void namesMessagesThatTheLedgerDoesNotShow() {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();
    SaleRest real = consumer.bean(SaleRest.class);
    SaleRest rest =
        new SaleRest(real.jdbc(), real.ledgers(), SaleRestTest.lists(false), real.barriers());

    assertThat(rest.missing(List.of(ProductRows.find(consumer.sql(), sku).orElseThrow())))
        .containsExactly("messages of it may still be on their way");
  }

  /** An order of it is stored, it is extended, or a fallback begins, after it was found at rest. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "settled = settled + 1|settled = settled - 1|it has changed meanwhile",
        "closes_at = closes_at + INTERVAL 1 DAY|closes_at = closes_at - INTERVAL 1 DAY"
            + "|it has changed meanwhile",
        "decides = 'MYSQL', fallback = 'ACTIVE'|decides = 'REDIS', fallback = 'NO'"
            + "|a fallback has not ended",
      })
  void archivesNoSaleThatHasChangedMeanwhile(String change, String undo, String reason) {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();

    Answer refused =
        eventually()
            .until(() -> archiveWhileItChanges(change, undo), answer -> answer.status() != 503);

    assertThat(refused.text()).contains("NOT_AT_REST", reason);
    assertThat(rows("archive")).isZero();
  }

  /** The answer is 503 when the lock was held for 3 s. */
  private Answer archiveWhileItChanges(String change, String undo) {
    try (RowLock held = consumer.lockProduct(sku)) {
      CompletableFuture<Answer> answer = CompletableFuture.supplyAsync(this::archive);
      String waiting = "%%products%%%d FOR UPDATE".formatted(sku);
      eventually().until(() -> answer.isDone() || consumer.executing(waiting).isPresent());
      held.execute("UPDATE products SET " + change + " WHERE sku_id = " + sku);
      held.commit();
      Answer given = Bounded.get(answer);
      consumer.update("UPDATE products SET " + undo + " WHERE sku_id = ?", sku);
      return given;
    }
  }

  /** Redis may have come back with an older outbox. */
  @Test
  void anOrderThatNoCounterShowsIsStoredBeforeTheArchiveGoesOn() {
    SaleInFlight sale = SaleInFlight.open(sku, 100, consumer, flood);
    String order = OrderMessageCodec.encode(sale.order(7, 1));
    close();
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      consumer.redis().lpush(sale.outbox(), order);
      assertThat(archives.isHeld()).isTrue();
    }
    consumer.update(BEGUN, -1, sku);
    try {
      eventually()
          .until(
              () -> {
                consumer.bean(SaleArchiver.class).round();
                return !consumer.redis().exists(RedisKeys.sku(sku));
              });
      try (RunLock archives = onlyByTheTest()) { // no round goes on
        assertThat(archive().text("phase")).isEqualTo("REDIS");
        assertThat(archives.isHeld()).isTrue();
      }
    } finally {
      consumer.redis().lrem(sale.outbox(), 0, order);
    }
    finish();
  }

  @Test
  void goesOnWhereItWasCutOff() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10_000);
    int orders = 4_500;
    long first = seed(orders);
    close();
    long last = first + orders - 1;
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      breaksAtTheLastStatementOfAPage(last);
      assertThat(archives.isHeld()).isTrue();
    }
    consumer.update("DELETE FROM order_history WHERE order_id = ?", last);

    finish();

    assertThat(rows("orders")).isZero();
    assertThat(archive().number("orders")).isEqualTo(orders);
    assertThat(audit().path("differences").toString()).isEqualTo("[]");
    assertThat(ledger().path("balanced").booleanValue()).isTrue();
    purgesWhatIsOldEnough(first, orders);
  }

  /** A dump, for example, keeps the entries of all pages before in the index. */
  @Test
  void aPageReadsNothingThatPagesBeforeItHaveDeleted(MySqlServer mysql) throws SQLException {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10_000);
    seed(7_000);
    consumer.update(
        "INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units)"
            + " SELECT sku_id, user_id, 1, 1 FROM orders WHERE sku_id = ?",
        sku);
    close();
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      consumer.update("UPDATE archive SET phase = 'REDIS' WHERE sku_id = ?", sku);
      consumer.update(BEGUN, 1, sku); // the service itself waits
      assertThat(archives.isHeld()).isTrue();
    }
    ArchiveTable table =
        new ArchiveTable(consumer.sql()) {
          @Override
          List<Long> unfinished() {
            return super.unfinished().stream().filter(id -> id == sku).toList();
          }

          @Override
          boolean isOlderThan(long any, Duration age) {
            return true;
          }
        };
    Map<ArchivePhase, List<Long>> read = new EnumMap<>(ArchivePhase.class);
    try (RowLock dump = consumer.lock("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        Connection root = mysql.rootConnection()) {
      SaleArchiver archiver = archiver(table, locking(root, read));
      roundUntil(archiver, () -> archive().text("phase").equals("DONE"));
      consumer.update(
          "UPDATE archive SET done_at = NOW(6) - INTERVAL 31 DAY WHERE sku_id = ?", sku);
      archiver.purge(Duration.ofDays(30));
      dump.release();
    }
    assertThat(archive().text("phase")).isEqualTo("PURGED");
    assertThat(read).containsOnlyKeys(ArchivePhase.ORDERS, ArchivePhase.REST, ArchivePhase.DONE);
    assertThat(read)
        .allSatisfy( // InnoDB may lock one more where a page of its index begins
            (phase, pages) -> assertThat(Collections.max(pages)).isLessThan(pages.get(0) + 100));
  }

  /**
   * Steps that keep everything locked that they read.
   *
   * @param read gets the number of those rows, for each page of a phase
   */
  private ArchiveSteps locking(Connection root, Map<ArchivePhase, List<Long>> read) {
    ArchiveSteps real = consumer.bean(ArchiveSteps.class);
    JdbcClient server = JdbcClient.create(new SingleConnectionDataSource(root, true));
    TransactionTemplate locking =
        new TransactionTemplate(new JdbcTransactionManager(consumer.bean(DataSource.class)));
    locking.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
    TransactionOperations counting =
        new TransactionOperations() {
          @Override
          public <T> T execute(TransactionCallback<T> work) {
            ArchivePhase phase = real.table().find(sku).orElseThrow().phase();
            return locking.execute(
                tx -> {
                  T result = work.doInTransaction(tx);
                  long thread =
                      real.jdbc().sql("SELECT CONNECTION_ID()").query(Long.class).single();
                  read.computeIfAbsent(phase, any -> new ArrayList<>()).add(locked(server, thread));
                  return result;
                });
          }
        };
    return new ArchiveSteps(real.jdbc(), real.redis(), real.table(), counting);
  }

  private static long locked(JdbcClient server, long thread) {
    String status =
        server
            .sql("SHOW ENGINE INNODB STATUS")
            .query((row, number) -> row.getString("Status"))
            .single();
    Matcher found = Pattern.compile(LOCKED.formatted(thread)).matcher(status);
    assertThat(found.find()).as(status).isTrue();
    return Long.parseLong(found.group(1));
  }

  /** Such a page moves nothing. */
  private void breaksAtTheLastStatementOfAPage(long last) {
    ArchiveSteps steps = consumer.bean(ArchiveSteps.class);
    assertThat(steps.moveOrders(sku, 0)).isPositive();
    assertThat(audit().path("differences").toString()).as("half way").isEqualTo("[]");
    consumer.update(
        "INSERT INTO order_history SELECT order_id, user_id, sku_id + 1, quantity,"
            + " unit_price_cents, request_id, status, reason, epoch, seq, admitted_at, created_at,"
            + " updated_at FROM orders WHERE order_id = ?",
        last);
    assertThatThrownBy(
            () -> {
              while (steps.moveOrders(sku, 0) > 0) {}
            })
        .isInstanceOf(DataAccessException.class);
    assertThat(rows("orders")).isEqualTo(500);
    assertThat(rows("order_history")).isEqualTo(4_000);
    assertThat(archive().number("orders")).isEqualTo(4_000);
    assertThat(audit().path("differences").toString()).as("cut off").isEqualTo("[]");
  }

  private void purgesWhatIsOldEnough(long first, int orders) {
    consumer.update(
        "INSERT INTO payment_history (order_id, amount_cents, state, created_at, updated_at)"
            + " VALUES (?, 1, 'DECLINED', NOW(6), NOW(6))",
        first);
    SaleArchiver archiver = consumer.bean(SaleArchiver.class);
    String done = "UPDATE archive SET done_at = NOW(6) - INTERVAL ? DAY WHERE sku_id = ?";
    consumer.update(done, 29, sku);
    archiver.purge(Duration.ofDays(30));
    consumer.update(done, 31, sku);
    archiver.purge(Duration.ZERO);
    assertThat(rows("order_history")).as("too young, and kept for ever").isEqualTo(orders);
    assertThat(ofFirst("order_alias_history", "stored_order_id", first)).isOne();

    SweeperPauses.round(
        consumer
            .bean(Retention.class)
            .retentionSweeper(archiver, new ArchiveProperties(Duration.ZERO, Duration.ofDays(30))));

    assertThat(rows("order_history")).isZero();
    assertThat(ofFirst("order_alias_history", "stored_order_id", first)).isZero();
    assertThat(ofFirst("payment_history", "order_id", first)).isZero();
    assertThat(archive().text("phase")).isEqualTo("PURGED");
    assertThat(ledger().path("balanced").booleanValue()).isTrue();
    assertThat(consumer.api().post("/internal/v1/skus/" + sku + "/audit", "{}").code())
        .isEqualTo("ARCHIVED");
  }

  /** Its orders are fewer than they were, and no later audit could replace the differences. */
  @Test
  void auditsNoSaleWhoseHistoryIsBeingDeleted() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10_000);
    long first = seed(2_500);
    close();
    begin(sku);
    finish();
    assertThat(audit().path("differences").toString()).isEqualTo("[]");

    assertThat(consumer.bean(ArchiveSteps.class).purge(sku, 0)).isEqualTo(first + 1_999);

    assertThat(rows("order_history")).isEqualTo(500);
    assertThat(audit().path("code").asString("-")).isEqualTo("ARCHIVED");
  }

  private static long ofFirst(String table, String column, long order) {
    return consumer.number("SELECT COUNT(*) FROM " + table + " WHERE " + column + " = ?", order);
  }

  /** Stores cancelled orders and an alias of the first, and settles them as a purchase does. */
  private long seed(int orders) {
    long first = OrderId.of(System.currentTimeMillis(), Partition.ofSku(sku), 255, 0).value();
    consumer.update(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at) WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL"
            + " SELECT i + 1 FROM n WHERE i < 99) SELECT ? + a.i * 100 + b.i, 1 + a.i * 100 + b.i,"
            + " ?, 1, 9900, 'k', 'CANCELLED', 1, 1, NOW(3) FROM n a JOIN n b"
            + " WHERE a.i * 100 + b.i < "
            + orders,
        first,
        sku);
    consumer.update(
        "INSERT INTO order_alias (order_id, stored_order_id) VALUES (?, ?)", first - 1, first);
    consumer.update(OrderTotalSql.count(sku));
    consumer.update("INSERT INTO order_total VALUES (?, 'ALIASES', 1, 1)", sku);
    consumer.update("UPDATE products SET settled = ? WHERE sku_id = ?", orders + 1, sku);
    return first;
  }

  @Test
  void archivesByItselfWhenTheTimeHasCome() {
    SaleInFlight.open(sku, 10, consumer, flood);
    SaleArchiver archiver = consumer.bean(SaleArchiver.class);
    archiver.beginDue(Duration.ofDays(7));
    assertThat(rows("archive")).isZero();
    closedLongAgo(sku);
    archiver.beginDue(Duration.ZERO);
    assertThat(rows("archive")).as("no sale is archived by itself").isZero();

    Sweeper sweeper =
        archiver.dueArchivesSweeper(new ArchiveProperties(Duration.ofDays(7), Duration.ZERO));
    eventually()
        .until(
            () -> {
              SweeperPauses.round(sweeper);
              return rows("archive") == 1;
            });
    assertThat(archive().text("startedBy")).isEqualTo("schedule");
    assertThat(consumer.product(sku, "state")).isEqualTo("CLOSED");
  }

  @Test
  void aHistoryThatCannotBeDeletedNowKeepsNoOtherWaiting() {
    ArchiveTable table =
        new ArchiveTable(consumer.sql()) {
          @Override
          List<Long> doneBefore(Duration keep) {
            return List.of(1L, 2L);
          }
        };
    AtomicInteger asked = new AtomicInteger();
    TransactionOperations locked =
        new TransactionOperations() {
          @Override
          public <T> T execute(TransactionCallback<T> work) {
            asked.incrementAndGet();
            throw new CannotAcquireLockException("for the test");
          }
        };
    ArchiveSteps real = consumer.bean(ArchiveSteps.class);

    archiver(table, new ArchiveSteps(real.jdbc(), real.redis(), table, locked))
        .purge(Duration.ofDays(30));

    assertThat(asked).hasValue(2);
  }

  /** Each sale waited for a connection. */
  @Test
  void beginsNoFurtherArchiveWhileMySqlIsAway() {
    SaleInFlight.open(sku, 10, consumer, flood);
    closedLongAgo(sku);
    ArchiveTable twice =
        new ArchiveTable(consumer.sql()) {
          @Override
          List<DueSale> due(Duration after, DueSale last, int limit) {
            List<DueSale> mine =
                super.due(after, last, limit).stream().filter(sale -> sale.skuId() == sku).toList();
            return Stream.of(mine, mine).flatMap(List::stream).toList();
          }
        };
    AtomicInteger asked = new AtomicInteger();
    DataSource away =
        new AbstractDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            asked.incrementAndGet();
            throw new SQLException("for the test");
          }

          @Override
          public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
          }
        };
    SaleArchiver archiver =
        archiver(twice, consumer.bean(ArchiveSteps.class), JdbcClient.create(away));

    assertThatThrownBy(() -> archiver.beginDue(Duration.ofDays(7)))
        .isInstanceOf(CannotGetJdbcConnectionException.class);

    assertThat(asked).hasValue(1);
  }

  /** It was preheated again after its end, and never opened. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void archivesASaleThatIsPreheatedByItself(int shards) {
    String path = "/internal/v1/skus/" + sku;
    String inShards = "\"shards\":%d,\"stock\"".formatted(shards);
    InternalApi api = consumer.api();
    api.put(path, Sales.product("ONE_PER_USER", 1, 402).replace("\"stock\"", inShards));
    api.post(path + "/preheat");
    api.post(path + "/open");
    close();
    assertThat(api.post(path + "/preheat").text("state")).isEqualTo("PREHEATED");
    closedLongAgo(sku);
    Shards.ids(sku, shards).forEach(SaleArchiveIT::closedLongAgo);

    eventually()
        .until(
            () -> {
              consumer.bean(SaleArchiver.class).beginDue(Duration.ofDays(7));
              return rows("archive") == 1;
            });

    assertThat(archive().text("startedBy")).isEqualTo("schedule");
    assertThat(consumer.product(sku, "state")).isEqualTo("CLOSED");
    finish();
  }

  /** Sales before it on its page may take minutes. */
  @ParameterizedTest
  @ValueSource(strings = {"PREHEATED", "CLOSED"})
  void aSaleThatIsExtendedBeforeItsTurnIsLeftAlone(String state) {
    String path = "/internal/v1/skus/" + sku;
    String product = Sales.product("ONE_PER_USER", 1, 10);
    InternalApi api = consumer.api();
    api.put(path, product);
    api.post(path + "/preheat");
    close();
    closedLongAgo(sku);
    ArchiveTable table =
        new ArchiveTable(consumer.sql()) {
          @Override
          List<DueSale> due(Duration after, DueSale last, int limit) {
            List<DueSale> page = super.due(after, last, limit);
            assertThat(page).extracting(DueSale::skuId).contains(sku);
            assertThat(api.put(path, product).status()).isEqualTo(200);
            if (state.equals("PREHEATED")) {
              assertThat(api.post(path + "/preheat").text("state")).isEqualTo(state);
            }
            return page;
          }
        };

    archiver(table).beginDue(Duration.ofDays(7));

    assertThat(consumer.product(sku, "state")).isEqualTo(state);
    assertThat(rows("archive")).isZero();
    close();
  }

  /** Before it is read again, which is after the transaction that closes it. */
  @Test
  void aSaleThatIsExtendedRightAfterItWasClosedIsNotArchived() {
    String path = "/internal/v1/skus/" + sku;
    String product = Sales.product("ONE_PER_USER", 1, 10);
    InternalApi api = consumer.api();
    api.put(path, product);
    api.post(path + "/preheat");
    close();
    SaleArchiver real = consumer.bean(SaleArchiver.class);
    eventually("at rest")
        .until(
            () -> real.rest().missing(List.of(ProductRows.find(real.jdbc(), sku).orElseThrow())),
            List::isEmpty);
    closedLongAgo(sku);
    ArchiveTable table =
        new ArchiveTable(consumer.sql()) {
          @Override
          List<DueSale> due(Duration after, DueSale last, int limit) {
            return super.due(after, last, limit).stream()
                .filter(sale -> sale.skuId() == sku)
                .toList();
          }
        };
    List<Integer> edits = new ArrayList<>();
    JdbcClient extendsFirst =
        statement -> {
          if (edits.isEmpty()) {
            edits.add(api.put(path, product).status());
          }
          return real.jdbc().sql(statement);
        };

    archiver(table, real.steps(), extendsFirst).beginDue(Duration.ofDays(7));

    assertThat(edits).containsExactly(200);
    assertThat(rows("archive")).isZero();
  }

  @Test
  void aPageOfSalesThatCannotBeArchivedKeepsNoOtherFromIt() {
    long other = NEXT_SKU.getAndIncrement();
    String closes = "UPDATE products SET closes_at = NOW() - INTERVAL ? DAY WHERE sku_id = ?";
    for (long each : List.of(sku, other)) {
      SaleInFlight.open(each, 10, consumer, flood);
      consumer.update(closes, each == sku ? 9 : 8, each);
    }
    stored.confirmed(sku, 7, 1);

    eventually()
        .until(
            () -> {
              consumer.bean(SaleArchiver.class).beginDue(Duration.ofDays(7), 1);
              return consumer.number("SELECT COUNT(*) FROM archive WHERE sku_id = ?", other) == 1;
            });
    assertThat(rows("archive")).isZero();
    consumer.update(closes, 0, sku);
    finish(other);
  }

  @Test
  void deletesWhatIsTooOldAndNothingElse() {
    for (int days : List.of(29, 31)) {
      consumer.update(
          "INSERT INTO payment_event VALUES (?, 1, NOW(6) - INTERVAL ? DAY)",
          "archive " + days,
          days);
    }
    for (int days : List.of(91, 89)) {
      consumer.update(
          "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch,"
              + " findings, started_at, ended_at) VALUES (?, 'a', 0, 'FOUND', ?, 1, 1, NOW(6),"
              + " NOW(6) - INTERVAL ? DAY)",
          sku,
          "days " + days,
          days);
      consumer.update(
          "INSERT INTO repair (reconciliation_id, kind, subject, found, wanted, made)"
              + " SELECT id, 'STOCK_SET', ?, '', '', 1 FROM reconciliation"
              + " WHERE sku_id = ? AND detail = ?",
          "archive " + sku,
          sku,
          "days " + days);
      for (String state : List.of("OPEN", "REPLAYED", "DISCARDED")) {
        consumer.update(
            "INSERT INTO dead_letter (sku_id, payload, payload_hash, reason, detail, attempts,"
                + " first_failed_at, last_failed_at, state, resolved_at) VALUES"
                + " (?, '{}', UNHEX(SHA2(?, 256)), '', ?, 1, NOW(), NOW(), ?,"
                + " NOW(6) - INTERVAL ? DAY)",
            sku,
            state + days + sku,
            state + days,
            state,
            days);
      }
    }
    String rests =
        "SELECT COUNT(*) FROM dead_letter_rest r LEFT JOIN dead_letter d ON d.id = r.letter_id"
            + " WHERE d.id IS NULL";
    consumer.update(
        "INSERT INTO dead_letter_rest SELECT id, 0, 'the rest' FROM dead_letter WHERE sku_id = ?",
        sku);
    for (int days : List.of(399, 401)) {
      consumer.update(
          "INSERT INTO daily_audit SELECT UTC_DATE() - INTERVAL ? DAY, ?, 'CLOSED', 0, 0, 0, 0, 0,"
              + " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', NOW(6)",
          days,
          sku);
    }

    consumer.sweep("retentionSweeper");

    assertThat(texts("SELECT event_id FROM payment_event WHERE event_id LIKE 'archive %'"))
        .containsExactly("archive 29");
    assertThat(texts("SELECT detail FROM reconciliation WHERE sku_id = " + sku))
        .containsExactly("days 89");
    assertThat(texts("SELECT subject FROM repair WHERE subject = 'archive " + sku + "'"))
        .hasSize(1);
    assertThat(texts("SELECT detail FROM dead_letter WHERE sku_id = " + sku))
        .containsExactlyInAnyOrder("OPEN91", "OPEN89", "REPLAYED89", "DISCARDED89");
    assertThat(consumer.number(rests)).as("rests of letters that are gone").isZero();
    consumer.update(
        "DELETE r FROM dead_letter_rest r JOIN dead_letter d ON d.id = r.letter_id"
            + " WHERE d.sku_id = ?",
        sku);
    assertThat(rows("daily_audit")).isEqualTo(1);
    consumer.update("DELETE FROM dead_letter WHERE sku_id = ?", sku);
  }

  /** More of them than are read at once, and a younger one of a product that is gone. */
  @Test
  void keepsResolvedDeadLettersOfASaleThatRedisHas() {
    SaleInFlight.open(sku, 10, consumer, flood);
    long gone = NEXT_SKU.getAndIncrement();
    insertReplayed(sku, 1_024, 365);
    insertReplayed(gone, 1, 364);

    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> consumer.bean(Retention.class).sweep());

    assertThat(rows("dead_letter")).isEqualTo(1_024);
    assertThat(rows("dead_letter", gone)).isZero();
    consumer.update("DELETE FROM dead_letter WHERE sku_id = ?", sku);
  }

  /**
   * @param count 1..1024
   */
  private static void insertReplayed(long sku, int count, int daysAgo) {
    consumer.update(
        "INSERT INTO dead_letter (sku_id, payload, payload_hash, reason, detail, attempts,"
            + " first_failed_at, last_failed_at, state, resolved_at) WITH RECURSIVE n AS"
            + " (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 31) SELECT ?, '{}',"
            + " UNHEX(SHA2(CONCAT(?, ' ', a.i * 32 + b.i), 256)), '', '', 1, NOW(), NOW(),"
            + " 'REPLAYED', NOW(6) - INTERVAL ? DAY FROM n a JOIN n b WHERE a.i * 32 + b.i < ?",
        sku,
        "kept " + sku,
        daysAgo,
        count);
  }

  /** While the lock is held the service's own rounds move nothing. */
  private static RunLock onlyByTheTest() {
    SaleArchiver service = consumer.bean(SaleArchiver.class);
    return eventually()
        .until(
            () -> RunLock.take(service.pools().reconciliation(), "archive", Duration.ofMinutes(2)),
            Optional::isPresent)
        .orElseThrow();
  }

  private static Set<String> texts(String query) {
    return Set.copyOf(consumer.sql().sql(query).query(String.class).list());
  }

  private long rows(String table) {
    return rows(table, sku);
  }

  private static long rows(String table, long sku) {
    return consumer.number("SELECT COUNT(*) FROM " + table + " WHERE sku_id = ?", sku);
  }

  private void close() {
    close(sku);
  }

  private static void close(long sku) {
    Answer closed =
        consumer.api().post("/internal/v1/skus/" + sku + "/state", "{\"state\":\"CLOSED\"}");
    assertThat(closed.status()).as(closed.text()).isEqualTo(200);
  }

  private Answer archive() {
    return archive(sku);
  }

  private static Answer archive(long sku) {
    return consumer.api().post("/internal/v1/skus/" + sku + "/archive");
  }

  private void finish() {
    finish(sku);
  }

  /** Continues to the end, without the wait for gateways: there are none. */
  private static void finish(long sku) {
    consumer.update("UPDATE archive SET started_at = started_at - INTERVAL 1 MINUTE");
    eventually()
        .until(
            () -> {
              consumer.bean(SaleArchiver.class).round();
              return archive(sku).text("phase").equals("DONE");
            });
  }

  private JsonNode ledger() {
    return consumer.api().get("/internal/v1/skus/" + sku + "/ledger").body();
  }

  private JsonNode audit() {
    return consumer.api().post("/internal/v1/skus/" + sku + "/audit", "{}").body();
  }

  private StrongDecision decide(long user, String key, int quantity) {
    return consumer
        .bean(StrongSales.class)
        .decide(List.of(new StrongPurchase(sku, user, key, quantity, null)))
        .get(0);
  }
}
