package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.storage.BarriersWhile;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.CountedRows;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.Bounded;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionOperations;

/** Differences between Redis and MySQL are found, proven and repaired. */
class ReconciliationIT extends ReconciliationFixture {

  @Test
  void sendsAnOrderAgainThatIsNowhere() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage stored = sale.admit(1, 2);
    OrderMessage lost = sale.admit(2, 3);
    flood.publish(stored);
    sale.oneUnpublished();
    ledger.awaitOrders(sale.sku, 1);

    Answer report = reconcile(sale, false);

    assertThat(outcome(report)).isEqualTo("REPAIRED");
    assertThat(subjects(report, "ORDER_SENT_AGAIN")).containsOnly(lost.orderId().toString());
    assertThat(sale.field("publishedOrders")).as("I14: the lost order is counted").isEqualTo("2");
    ledger.awaitOrders(sale.sku, 2);
    assertThat(ledger.status(lost)).isEqualTo("CONFIRMED");
    assertThat(ledger.stock(sale.sku)).isEqualTo(95).isEqualTo(sale.stock());
    awaitClean(sale);
    ledger.check();
  }

  @Test
  void leavesOrdersAloneThatAreOnTheirWay() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.outbox(sale.admit(1, 1));
    OrderMessage claimed = sale.admit(2, 1);
    String member = "relay:0:token";
    consumer.redis().zadd("seckill:{" + sale.sku % 16 + "}:lanes", -1, member);
    consumer
        .redis()
        .lpush(
            "seckill:{" + sale.sku % 16 + "}:lane:" + member,
            io.seckill.common.order.OrderMessageCodec.encode(claimed));

    assertThat(outcome(reconcile(sale, false))).isEqualTo("CLEAN");
  }

  @Test
  void leavesADeadLetterToTheOperator() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    String letter = deadLetter(sale.admit(1, 1));

    assertThat(outcome(reconcile(sale, false))).isEqualTo("CLEAN");
    assertThat(sale.stock()).isEqualTo(99);

    consumer.update(
        "UPDATE dead_letter SET state = 'REPLAYED'" + letter.replace("FROM dead_letter", ""));
    assertThat(kinds(reconcile(sale, true)))
        .as("a replay that the broker has lost")
        .containsExactly("ORDER_SENT_AGAIN");
  }

  /** The operator's message is behind the barrier. */
  @Test
  void missesNoOrderWhoseDeadLetterIsReplayedMeanwhile() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage dead = sale.admit(1, 1);
    OrderMessage lost = sale.admit(2, 1);
    String letter = deadLetter(dead);
    String replay =
        "UPDATE dead_letter SET state = 'REPLAYED'" + letter.replace("FROM dead_letter", "");
    LostOrders orders =
        new LostOrders(
            consumer.bean(RedisSale.class),
            consumer.bean(RedisListScan.class),
            new BarriersWhile(() -> consumer.update(replay)),
            consumer.bean(KnownOrders.class),
            consumer.bean(ConfirmingPublisher.class));

    Map<OrderId, AdmissionRecord> suspects =
        Map.of(
            dead.orderId(), AdmissionRecord.queued(dead),
            lost.orderId(), AdmissionRecord.queued(lost));

    assertThat(orders.among(sale.sku, suspects, Duration.ofSeconds(20)).orElseThrow())
        .containsOnlyKeys(lost.orderId());
  }

  @Test
  void changesNothingInADryRun() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage missing = sale.admit(1, 2);
    sale.setQuota(9, 4);
    sale.setStock(70);
    Map<String, Object> before = sale.all();

    Answer report = reconcile(sale, true);

    assertThat(outcome(report)).isEqualTo("FOUND");
    assertThat(kinds(report)).isEqualTo(Set.of("ORDER_SENT_AGAIN", "QUOTA_SET", "STOCK_SET"));
    assertThat(sale.all()).isEqualTo(before);
    flood.publish(sale.admit(2, 1)); // stored after anything that the dry run had sent
    ledger.awaitOrders(sale.sku, 1);
    assertThat(ledger.status(missing)).isEqualTo("none");
  }

  @Test
  void lowersTheQuotaThatARefusalLeftRaised() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 2, 100);
    OrderMessage first = sale.admit(1, 2);
    sale.setQuota(1, 0); // Redis lost the quota, and admitted the user again
    OrderMessage second = sale.admit(1, 2);
    flood.publish(first, second);
    ledger.awaitOrders(sale.sku, 2);
    eventually().until(() -> sale.stock() == 98);
    sale.setQuota(1, 4);
    consumer.redis().persist(RedisKeys.bucket(sale.sku, 0)); // the compensation has set it

    Answer report = reconcile(sale, false);

    assertThat(subjects(report, "QUOTA_SET")).containsOnly("1");
    assertThat(sale.quota(1)).isEqualTo(2);
    assertExpires(sale, RedisKeys.bucket(sale.sku, 0));
    awaitClean(sale);
  }

  /** With the sale, whichever script wrote to it. */
  private static void assertExpires(AdmittedSale sale, String key) {
    assertThat(Long.toString(consumer.redis().pexpireTime(key))).isEqualTo(sale.field("expiresAt"));
  }

  /** More than three comparisons keep; each run repairs some, and the next one goes on. */
  @Tag("proof")
  @Test
  void neverCallsASaleCleanOfWhichOneRunCannotFindEverything() {
    AdmittedSale sale = new AdmittedSale(consumer, 7_901, PurchasePolicy.LIMITED, 5, 100);
    int users = 1 << 15;
    String columns = "INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units) ";
    try {
      consumer.update(columns + "VALUES (?, 1, 1, 5)", sale.sku);
      for (int known = 1; known < users; known *= 2) {
        consumer.update(
            columns + "SELECT sku_id, user_id + ?, 1, 5 FROM user_quota WHERE sku_id = ?",
            known,
            sale.sku);
      }
      sale.setStock(70);

      Answer look = reconcile(sale, true);
      assertThat(outcome(look)).isEqualTo("FOUND");
      assertThat(look.text()).contains("There may be more: run again.");
      assertThat(outcome(reconcile(sale, false))).isEqualTo("FOUND");
      assertThat(sale.stock()).as("does not depend on quotas").isEqualTo(100);
      assertThat(outcome(reconcile(sale, false))).isEqualTo("REPAIRED");

      assertThat(sale.quota(1) + sale.quota(users)).isEqualTo(2);
      assertThat(outcome(reconcile(sale, false))).isEqualTo("CLEAN");
      assertThat(ledger.number("SELECT SUM(made) FROM reconciliation WHERE sku_id = " + sale.sku))
          .isEqualTo(users + 1);
    } finally {
      consumer.update("DELETE FROM user_quota WHERE sku_id = ?", sale.sku);
    }
  }

  @Test
  void reportsTheRepairsOfARunThatRedisCutsOff() {
    AdmittedSale sale = new AdmittedSale(consumer, 7_902, PurchasePolicy.LIMITED, 5, 100);
    sale.admit(1, 1); // lost: the run looks for it in Redis's lists
    consumer.update("UPDATE products SET state = 'PAUSED' WHERE sku_id = ?", sale.sku);
    String outbox = RedisKeys.outbox(Partition.ofSku(sale.sku));
    consumer.redis().del(outbox);
    consumer.redis().set(outbox, "not a list");
    Answer report;
    try {
      report = reconcile(sale, false);
    } finally {
      consumer.redis().del(outbox);
    }

    assertThat(outcome(report)).isEqualTo("FOUND");
    assertThat(report.text()).contains("run again");
    assertThat(kinds(report)).containsOnly("STATE_SET");
    assertThat(reports(sale)).isEqualTo(1);
    assertThat(kinds(reconcile(sale, false))).contains("ORDER_SENT_AGAIN");
    ledger.awaitOrders(sale.sku, 1);
    awaitClean(sale);
  }

  /** Its totals were read before; they then differ from its orders. */
  @Test
  void aLookReportsNoTotalsOfASaleThatHasSoldMeanwhile() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setStock(70);
    Comparison found =
        new Comparison(
            consumer.bean(Comparisons.class).sale(sale.sku).orElseThrow(),
            consumer.bean(RedisSale.class).state(sale.sku),
            0,
            new OrderTotals(1, 2), // Redis has counted none
            Map.of(),
            Map.of());
    assertThat(totals(found)).containsExactly(RepairKind.STOCK_SET, RepairKind.COUNTER_SET);

    sale.setField("seq", "1");

    assertThat(totals(found)).isEmpty();
  }

  private static List<RepairKind> totals(Comparison found) {
    List<RepairKind> kinds = new ArrayList<>();
    consumer.bean(Repairs.class).totals(found, true, repair -> kinds.add(repair.kind()));
    return kinds;
  }

  /** Its stock changes between the reading of its totals and that of its orders and changes. */
  @Tag("proof")
  @Test
  void aLookAtASaleThatMovesFindsNothingWrong() {
    AdmittedSale sale = sale(PurchasePolicy.UNLIMITED, 0, 100);
    AtomicBoolean moves = new AtomicBoolean(true);
    CompletableFuture<Void> changes = CompletableFuture.runAsync(() -> addWhile(moves, sale));
    try {
      for (int look = 0; look < 50; look++) {
        assertThat(kinds(reconcile(sale, true))).isEmpty();
      }
    } finally {
      moves.set(false);
    }
    Bounded.get(changes);
    assertThat(sale.stock()).isGreaterThan(100);
    awaitClean(sale);
  }

  private static void addWhile(AtomicBoolean moves, AdmittedSale sale) {
    for (int i = 0; moves.get(); i++) {
      change(sale, "add-%08d".formatted(i), 1);
    }
  }

  @Test
  void setsTheStockRightThatARefusalLeft() {
    AdmittedSale sale = sale(PurchasePolicy.UNLIMITED, 0, 3);
    sale.setStock(5); // Redis had two units too many
    List<OrderMessage> orders = List.of(sale.admit(1, 2), sale.admit(2, 2));
    flood.publish(orders);
    ledger.awaitOrders(sale.sku, 2);
    eventually().until(() -> ledger.settled(sale.sku) == 2);

    assertThat(sale.stock()).isEqualTo(1);
    sale.setStock(3);
    assertThat(kinds(reconcile(sale, false))).contains("STOCK_SET");

    assertThat(sale.stock()).isEqualTo(1).isEqualTo(ledger.stock(sale.sku));
    assertExpires(sale, RedisKeys.stock(sale.sku));
    awaitClean(sale);
  }

  @Test
  void writesAResultThatRedisNeverHeard() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 1);
    flood.publish(order);
    eventually().until(() -> sale.result(order).equals("C"));
    consumer.update(
        "UPDATE orders SET created_at = created_at - INTERVAL 20 MINUTE, updated_at = created_at"
            + " WHERE order_id = ?",
        order.orderId().value());
    sale.setResult(order, "Q");

    awaitKind(sale, "RESULT_WRITTEN");

    assertThat(sale.result(order)).isEqualTo("C");
    assertThat(sale.changedAt(order))
        .as("the time to pay runs from then")
        .isEqualTo(
            ledger.number(
                "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at) DIV 1000 FROM orders"
                    + " WHERE order_id = "
                    + order.orderId()));
  }

  @Test
  void restoresTheRecordAndTheFirstAnswerOfAStoredOrder() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 2);
    flood.publish(order);
    eventually().until(() -> sale.result(order).equals("C"));
    sale.forgetRecord(order);

    assertThat(kinds(reconcile(sale, false))).contains("RECORD_RESTORED");

    assertThat(sale.result(order)).isEqualTo("C");
    assertThat(sale.firstAnswer(order)).isEqualTo(order.orderId() + ":2");
    assertExpires(sale, RedisKeys.bucket(sale.sku, 0));
  }

  @Test
  void replaysACompensationThatRedisLost() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    cancelledWithoutCompensation(sale);
    sale.setQuota(1, 2);

    awaitKind(sale, "COMPENSATION_REPLAYED");

    assertThat(sale.stock()).isEqualTo(100);
    assertThat(sale.quota(1)).isZero();
    awaitClean(sale);
  }

  /** Redis forgets an ended order with all its fields, some time after it has its units back. */
  @Test
  void missesNothingOfAnEndedOrderThatRedisHasForgotten() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage forgotten = sale.admit(1, 2);
    flood.publish(forgotten);
    ledger.awaitOrders(sale.sku, 1);
    assertThat(cancel(forgotten).status()).isEqualTo(200);
    eventually().until(() -> sale.stock() == 100);
    sale.forgetRecord(forgotten);
    sale.forgetGiven(forgotten);

    assertThat(outcome(reconcile(sale, false))).isEqualTo("CLEAN");

    assertThat(sale.result(forgotten)).isEmpty();
    assertThat(sale.stock()).isEqualTo(100);
  }

  /** Redis forgets it meanwhile, so that only MySQL can say whose quota was returned. */
  @Test
  void raisesNoQuotaThatIsReturnedWhileTheSaleIsCompared() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 2);
    flood.publish(order);
    eventually().until(() -> sale.result(order).equals("C"));
    AtomicBoolean isCancelled = new AtomicBoolean();
    Runnable cancelOnce =
        () -> {
          if (isCancelled.compareAndSet(false, true)) {
            assertThat(cancel(order).status()).isEqualTo(200);
            eventually().until(() -> sale.stock() == 100);
            sale.forgetRecord(order);
            sale.forgetGiven(order);
          }
        };
    Repairs repairs = consumer.bean(Repairs.class);
    List<Repair> made = new ArrayList<>();

    assertThat(
            consumer
                .bean(Comparisons.class)
                .read(sale.sku, cancelOnce, found -> repairs.part(found, false, made::add)))
        .isPresent();

    assertThat(made).isEmpty();
    assertThat(sale.quota(1)).isZero();
    awaitClean(sale);
  }

  /** A replica was promoted that had not received the change yet. */
  @ParameterizedTest
  @CsvSource({"-10, 90", "10, 110"})
  void findsAStockChangeThatRedisHasLost(long delta, long stock) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    change(sale, delta);
    assertThat(sale.stock()).isEqualTo(stock);
    sale.forgetChanges();
    sale.setStock(100);

    assertThat(kinds(reconcile(sale, false))).containsOnly("STOCK_SET");

    assertThat(sale.stock()).isEqualTo(stock).isEqualTo(ledger.stock(sale.sku));
    awaitClean(sale);
  }

  /** A replica was promoted that had received the withdrawal, but not its reversal. */
  @Test
  void findsAWithdrawalThatWasRefusedAndThatRedisStillHas() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setStock(200);
    change(sale, -150); // MySQL has less, and refuses
    sale.change("change--150", "1:-150:A");
    sale.setStock(50);

    assertThat(kinds(reconcile(sale, false))).containsOnly("STOCK_SET");

    assertThat(sale.stock()).isEqualTo(100).isEqualTo(ledger.stock(sale.sku));
  }

  @ParameterizedTest
  @CsvSource({"P, PAID", "X, CANCELLED", "E, EXPIRED", "RS, REJECTED"})
  void reportsAnOrderThatHasEndedAndThatMySqlHasLost(String letters, String status) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage ended = sale.admit(1, 2);
    sale.setResult(ended, letters);
    OrderMessage queued = sale.admit(2, 1);
    double counted = notInMySql();

    Answer report = reconcile(sale, false);

    assertThat(outcome(report)).isEqualTo("FOUND");
    assertThat(notInMySql()).as("the counter that the alert watches").isEqualTo(counted + 1);
    assertThat(subjects(report, "ORDER_NOT_IN_MYSQL")).containsOnly(ended.orderId().toString());
    assertThat(repair(report, "ORDER_NOT_IN_MYSQL").path("found").asString()).isEqualTo(status);
    assertThat(subjects(report, "ORDER_SENT_AGAIN")).containsOnly(queued.orderId().toString());
    ledger.awaitOrders(sale.sku, 1);
    assertThat(sale.stock()).as("its units stay taken").isEqualTo(97);
    sale.forget();
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    assertThat(ledger.status(ended)).as("not CONFIRMED").isEqualTo("none");
  }

  /** The answer shows a hundred; an operator compares all of them with the provider's records. */
  @Test
  void storesAllOrdersThatMySqlHasLostAndThatAreOnlyReported() {
    AdmittedSale sale = sale(PurchasePolicy.UNLIMITED, 0, 2_000);
    int paid = 1_100; // more than other findings of a run
    for (int user = 1; user <= paid; user++) {
      sale.setResult(sale.admit(user, 1), "P");
    }
    OrderMessage queued = sale.admit(paid + 1, 1);

    Answer report = reconcile(sale, false);

    assertThat(kinds(report)).as("first").containsOnly("ORDER_NOT_IN_MYSQL");
    assertThat(
            ledger.number(
                "SELECT COUNT(*) FROM repair JOIN reconciliation r ON r.id = reconciliation_id"
                    + " WHERE kind = 'ORDER_NOT_IN_MYSQL' AND sku_id = "
                    + sale.sku))
        .isEqualTo(paid);
    ledger.awaitOrders(sale.sku, 1);
    assertThat(ledger.status(queued)).isEqualTo("CONFIRMED");
  }

  /** Redis has the idempotency key of an order in the field of its request alone. */
  @Test
  void reportsALostOrderWhoseRequestIsGone() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 2);
    sale.forgetRequest(order);

    Answer report = reconcile(sale, false);

    assertThat(outcome(report)).isEqualTo("FOUND");
    assertThat(kinds(report)).containsOnly("ORDER_NOT_IN_MYSQL");
    assertThat(repair(report, "ORDER_NOT_IN_MYSQL").path("wanted").asString())
        .isEqualTo("user 1, units 2, request unknown");
    assertThat(sale.stock()).as("its units stay taken").isEqualTo(98);
  }

  @Test
  void sendsAnOrderAgainThatMySqlHadConfirmedAndLost() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage confirmed = sale.admit(1, 2);
    sale.setResult(confirmed, "C");

    assertThat(kinds(reconcile(sale, false))).containsOnly("ORDER_SENT_AGAIN");

    ledger.awaitOrders(sale.sku, 1);
    assertThat(ledger.status(confirmed)).isEqualTo("CONFIRMED");
  }

  @Test
  void reportsEachRepairOnce() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = cancelledWithoutCompensation(sale);
    sale.setQuota(1, "x"); // unreadable: a compensation cannot be applied
    consumer.update(
        "UPDATE compensation SET created_at = NOW(6) - INTERVAL 1 MINUTE WHERE order_id = ?",
        order.orderId().value());

    Answer report = reconcile(sale, false);

    assertThat(outcome(report)).isEqualTo("REPAIRED");
    assertThat(report.body().at("/counts/COMPENSATION_REPLAYED").asLong()).isEqualTo(1);
    assertThat(report.body().path("repairs").size()).isEqualTo(2);
    assertThat(sale.stock()).isEqualTo(100);
    assertThat(sale.quota(1)).isZero();
  }

  @Test
  void reportsASaleThatStandsStillAlthoughMySqlCallsItOpen() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("state", "PAUSED");

    Answer report = reconcile(sale, false);

    assertThat(outcome(report)).isEqualTo("FOUND");
    assertThat(kinds(report)).containsOnly("STATE_DIFFERS");
    assertThat(sale.field("state")).as("a pause may have reached only Redis").isEqualTo("PAUSED");
  }

  private static double notInMySql() {
    return consumer.counter("seckill.consumer.findings", "kind", "ORDER_NOT_IN_MYSQL");
  }

  @Test
  void stopsASaleThatMySqlDoesNotCallOpen() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    consumer.update("UPDATE products SET state = 'CLOSED' WHERE sku_id = ?", sale.sku);

    assertThat(kinds(reconcile(sale, false))).containsOnly("STATE_SET");

    assertThat(sale.field("state")).isEqualTo("CLOSED");
  }

  @Test
  void keepsItsReports() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setStock(70);
    reconcile(sale, false);

    Answer reports = consumer.api().get(path(sale));

    assertThat(reports.body().path("reconciliations").size()).isEqualTo(1);
    var report = reports.body().path("reconciliations").get(0);
    assertThat(report.path("outcome").asString()).isEqualTo("REPAIRED");
    assertThat(report.path("startedBy").asString()).isEqualTo("tester");
    assertThat(report.path("counts").path("STOCK_SET").asInt()).isEqualTo(1);
    assertThat(report.path("repairs").get(0).path("found").asString()).isEqualTo("70");
  }

  /** Each of twenty reports may have thousands of findings. */
  @Test
  void listsReportsWithoutReadingAllTheirFindings() throws SQLException {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    consumer.update(
        "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch, findings,"
            + " made, started_at) VALUES (?, 'tester', TRUE, 'FOUND', '', 1, 10000, 0, NOW(6))",
        sale.sku);
    long id = ledger.number("SELECT MAX(id) FROM reconciliation WHERE sku_id = " + sale.sku);
    String findings =
        IntStream.range(0, 10_000)
            .mapToObj(n -> n % 10 == 0 ? "QUOTA_SET" : "ORDER_NOT_IN_MYSQL")
            .map(kind -> "(%d, '%s', '7', '1', '2', FALSE)".formatted(id, kind))
            .collect(Collectors.joining(", "));
    consumer.update(
        "INSERT INTO repair (reconciliation_id, kind, subject, found, wanted, made) VALUES "
            + findings);
    AtomicLong rows = new AtomicLong();

    try (Connection connection = CountedRows.of(consumer.database().connect(), rows)) {
      ReconciliationTable table =
          new ReconciliationTable(
              JdbcClient.create(new SingleConnectionDataSource(connection, true)),
              consumer.bean(TransactionOperations.class));
      assertThat(table.latest(List.of(sale.sku)))
          .singleElement()
          .satisfies(report -> assertThat(report.repairs()).hasSize(Report.MOST_SHOWN))
          .extracting(Report::counts)
          .isEqualTo(Map.of(RepairKind.QUOTA_SET, 1_000, RepairKind.ORDER_NOT_IN_MYSQL, 9_000));
    }

    assertThat(rows).hasValueBetween(100L, 110L);
  }

  @Test
  void refusesWhatItCannotDo() {
    assertThat(
            consumer
                .api()
                .post("/internal/v1/skus/6999/reconciliation", "{\"dryRun\":true}")
                .code())
        .isEqualTo("UNKNOWN_SKU");
    assertThat(consumer.api().post("/internal/v1/skus/6999/reconciliation", "{}").field())
        .isEqualTo("dryRun");
  }

  private static void change(AdmittedSale sale, long delta) {
    change(sale, "change-" + delta, delta);
  }

  private static void change(AdmittedSale sale, String id, long delta) {
    Answer answer = consumer.api().changeStock(sale.sku, id, delta);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  /**
   * User 1 bought two of 100 units and cancelled; Redis was restored to before the compensation.
   */
  private static OrderMessage cancelledWithoutCompensation(AdmittedSale sale) {
    OrderMessage order = sale.admit(1, 2);
    flood.publish(order);
    eventually().until(() -> sale.result(order).equals("C"));
    assertThat(cancel(order).status()).isEqualTo(200);
    eventually().until(() -> sale.stock() == 100);
    sale.forgetGiven(order);
    sale.setStock(98);
    consumer.update( // the sweep has had its time
        "UPDATE compensation SET created_at = NOW(6) - INTERVAL 1 MINUTE WHERE order_id = ?",
        order.orderId().value());
    return order;
  }
}
