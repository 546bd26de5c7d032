package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Differences between Redis and MySQL are found, proven and repaired. */
@ExtendWith(TestServers.class)
class ReconciliationIT {

  private static final AtomicLong SKUS = new AtomicLong(7_000);

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.reconciliation.barrier-timeout", "20s",
              "pause.deadLetterDrainer", "50ms",
              "pause.compensationSweeper", "10m"));

  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());
  private static final StoredInvariants ledger = new StoredInvariants(consumer.sql());

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
    deadLetter(sale.admit(1, 1));

    assertThat(outcome(reconcile(sale, false))).isEqualTo("CLEAN");
    assertThat(sale.stock()).isEqualTo(99);
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

    Answer report = reconcile(sale, false);

    assertThat(subjects(report, "QUOTA_SET")).containsOnly("1");
    assertThat(sale.quota(1)).isEqualTo(2);
    awaitClean(sale);
  }

  /** More than three comparisons keep; each run repairs some, and the next one goes on. */
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
    awaitClean(sale);
  }

  @Test
  void writesAResultThatRedisNeverHeard() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 1);
    flood.publish(order);
    eventually().until(() -> sale.result(order).equals("C"));
    sale.setResult(order, "Q");

    awaitKind(sale, "RESULT_WRITTEN");

    assertThat(sale.result(order)).isEqualTo("C");
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

  @Test
  void reportsTheSameAgainOnlyWhenTheSaleMoves() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("state", "PAUSED");
    Schedule schedule = consumer.bean(Schedule.class);

    schedule.round(); // sees it for the first time
    for (int looks = 0; looks < 3; looks++) {
      schedule.round();
    }
    assertThat(reports(sale)).isEqualTo(1);

    sale.setField("state", "CLOSED");
    schedule.round();
    schedule.round();
    assertThat(reports(sale)).isEqualTo(2);
  }

  @Test
  void aLongComparisonOfTheScheduleRestsWhileOrdersAreStored() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 50, 100);
    Timer rests =
        consumer.bean(MeterRegistry.class).get("seckill.consumer.background.rests").timer();
    long before = rests.count();
    AtomicLong orders = new AtomicLong();
    Schedule schedule =
        schedule(consumer.bean(RedisSale.class), new LongRuns(), new SimpleMeterRegistry());
    consumer.bean(Schedule.class).stop();

    eventually() // what was read of storing is up to a second old
        .untilAsserted(
            () -> {
              flood.publish(sale.admit(1, 1));
              ledger.awaitOrders(sale.sku, orders.incrementAndGet());
              schedule.round();
              schedule.round();
              assertThat(rests.count()).isGreaterThan(before);
            });
    schedule.stop();
  }

  /**
   * Waits for a ledger that was read since, in which this sale adds up. The terms of its order
   * queue have orders of other tests, too.
   *
   * @return the ledger
   */
  private static JsonNode awaitBalance(AdmittedSale sale) {
    Instant asked = Instant.now();
    AtomicReference<JsonNode> last = new AtomicReference<>();
    eventually()
        .untilAsserted(
            () -> {
              JsonNode ledger =
                  consumer.api().get("/internal/v1/skus/" + sale.sku + "/ledger").body();
              assertThat(Instant.parse(ledger.path("readAt").stringValue())).isAfter(asked);
              for (String store : List.of("units", "orders", "mysql")) {
                assertThat(ledger.path(store).path("difference").longValue())
                    .as("%s of %s", store, ledger)
                    .isZero();
              }
              last.set(ledger);
            });
    return last.get();
  }

  /** Another one than the consumer's, which must have been stopped. */
  private static Schedule schedule(RedisSale redis, Reconciler reconciler, MeterRegistry meters) {
    return new Schedule(
        consumer.bean(ConnectionPools.class),
        consumer.sql(),
        redis,
        reconciler,
        consumer.bean(ReconciliationProperties.class),
        consumer.bean(Pace.class),
        meters);
  }

  /** Each run takes 60 ms. */
  private static final class LongRuns extends Reconciler {

    LongRuns() {
      super(
          consumer.bean(ConnectionPools.class),
          consumer.bean(SaleReconciliation.class),
          consumer.bean(ReconciliationTable.class),
          consumer.bean(ReconciliationProperties.class),
          consumer.bean(Clock.class),
          new SimpleMeterRegistry());
    }

    @Override
    Report run(long skuId, Order order) {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(60);
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      order.stepEnds().run();
      return super.run(skuId, order);
    }
  }

  @Test
  void wantsNoSaleInRedisAfterItsClosingTime() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.forget();
    double lost = lostSales();
    consumer.update("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = ?", sale.sku);

    assertThat(lostSales()).isEqualTo(lost - 1);
    assertThat(outcome(reconcile(sale, false))).isEqualTo("NOT_ON_SALE");
    assertThat(sale.field("state")).isEqualTo("null");
  }

  @Test
  void missesNoStrongSaleInRedis() {
    double lost = lostSales();
    new Sales(consumer).openStrong(7_903, "LIMITED", 5, 20);

    assertThat(lostSales()).as("sales that wait for a rebuild").isEqualTo(lost);
  }

  private static double notInMySql() {
    return consumer.counter("seckill.consumer.findings", "kind", "ORDER_NOT_IN_MYSQL");
  }

  /** Returns the gauge after the next round of the schedule. */
  private static double lostSales() {
    consumer.bean(Schedule.class).round();
    return consumer.gauge("seckill.consumer.sales.lost");
  }

  @Test
  void reservesTheUnitsOfADeadLetterThatIsOnItsWayAgain() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage dead = sale.admit(1, 3);
    deadLetter(dead);
    sale.forget();
    // As after an operator's replay between barrier and snapshot, before the order is stored.
    consumer.update(
        "UPDATE dead_letter SET state = 'REPLAYED' WHERE order_id = ?", dead.orderId().value());

    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.stock()).isEqualTo(97);
    flood.publish(dead);
    ledger.awaitOrders(sale.sku, 1);
    eventually().until(() -> sale.result(dead).equals("C"));
    assertThat(sale.field("seq")).isEqualTo(Long.toString(ledger.settled(sale.sku)));
    awaitClean(sale);
    ledger.check();
  }

  @Test
  void stopsASaleThatMySqlDoesNotCallOpen() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    consumer.update("UPDATE products SET state = 'CLOSED' WHERE sku_id = ?", sale.sku);

    reconcile(sale, false); // unless the sweep of pending stops was faster

    assertThat(sale.field("state")).isEqualTo("CLOSED");
  }

  @Test
  void rebuildsASaleThatRedisHasLostUnderANewEpoch() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    List<OrderMessage> orders = new ArrayList<>();
    for (int user = 1; user <= 20; user++) {
      orders.add(sale.admit(user, 2));
    }
    flood.publish(orders.subList(0, 10));
    sale.forget();
    flood.publish(orders.subList(10, 20)); // orders that the broker still had

    assertThat(outcome(reconcile(sale, true))).isEqualTo("LOST");
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.field("epoch")).isEqualTo("2");
    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(Long.parseLong(sale.field("seq"))).isGreaterThanOrEqualTo(20);
    assertThat(sale.stock()).isEqualTo(60).isEqualTo(ledger.stock(sale.sku));
    for (OrderMessage order : orders) {
      assertThat(sale.result(order)).isEqualTo("C");
      assertThat(sale.quota(order.userId())).isEqualTo(2);
      assertThat(sale.firstAnswer(order)).isEqualTo(order.orderId() + ":2");
    }
    ledger.check();
    awaitClean(sale);
  }

  /** Its data have other keys and fields; nothing of them counts. */
  @Test
  void rebuildsASaleThatAFormerReleaseLoaded() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 2);
    flood.publish(order);
    ledger.awaitOrders(sale.sku, 1);
    sale.asAFormerReleaseLoadedIt();
    Map<String, String> fields = consumer.redis().hgetAll(RedisKeys.sku(sale.sku));

    assertThat(outcome(reconcile(sale, true))).isEqualTo("LOST");
    assertThat(consumer.redis().hgetAll(RedisKeys.sku(sale.sku))).isEqualTo(fields);
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.field("buckets")).as("a former gateway admits nothing").isEqualTo("null");
    assertThat(sale.stock()).isEqualTo(98);
    assertThat(sale.quota(1)).isEqualTo(2);
    assertThat(sale.firstAnswer(order)).isEqualTo(order.orderId() + ":2");
    awaitClean(sale);
  }

  @Test
  void rebuildsASaleAsItWasPreheated() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    String path = "/internal/v1/skus/" + sale.sku;
    consumer.api().post(path + "/state", "{\"state\":\"CLOSED\"}");
    try (TestConsumer other =
        consumer.another(
            Map.of("seckill.preheat.max-per-order", "7", "seckill.preheat.retention", "2h"))) {
      assertThat(other.api().post(path + "/preheat", "").status()).isEqualTo(200);
    }
    sale.forget();

    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.field("maxPerOrder")).isEqualTo("7");
    long expiry = Long.parseLong(sale.field("expiresAt")) - Long.parseLong(sale.field("closesAt"));
    assertThat(Duration.ofMillis(expiry)).isEqualTo(Duration.ofHours(2));
  }

  @Test
  void keepsWhatAnOlderRedisHadAdmittedAndLost() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage lost = sale.admit(1, 1);
    OrderMessage stored = sale.admit(2, 1);
    flood.publish(stored);
    ledger.awaitOrders(sale.sku, 1);
    sale.forgetRecord(stored); // an old append-only file, without the second order
    sale.setField("seq", "1");
    sale.setStock(99);
    sale.setQuota(2, 0);

    Answer report = reconcile(sale, false);

    assertThat(outcome(report)).isEqualTo("REBUILT");
    assertThat(subjects(report, "ORDER_SENT_AGAIN")).containsOnly(lost.orderId().toString());
    assertThat(ledger.status(lost)).isEqualTo("CONFIRMED");
    assertThat(sale.stock()).isEqualTo(98);
    assertThat(sale.result(lost)).isEqualTo("C");
    ledger.check();
  }

  @Test
  void reservesTheUnitsOfADeadLetter() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage dead = sale.admit(1, 3);
    deadLetter(dead);
    sale.forget();

    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.stock()).isEqualTo(97);
    assertThat(Long.parseLong(sale.field("seq")) - ledger.settled(sale.sku))
        .as("orders not settled: the dead letter")
        .isEqualTo(1);
    assertThat(sale.result(dead)).isEqualTo("D");
    awaitClean(sale);
  }

  @ParameterizedTest
  @ValueSource(strings = {"discarded", "above the quota", "alias"})
  void returnsTheUnitsOfADeadLetterThatIsRejectedAfterARebuild(String how) { // I7
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage dead = sale.admit(1, 3);
    OrderMessage late = sale.admit(1, 3); // a lane keeps it until after the rebuild
    String letter = deadLetter(dead);
    sale.forget();
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    assertThat(sale.stock()).isEqualTo(97);
    assertThat(sale.quota(1)).isEqualTo(3);

    if (how.equals("discarded")) {
      String path = "/internal/v1/dead-letters/" + ledger.number("SELECT id " + letter);
      Answer discarded = consumer.api().post(path + "/discard", "{\"reason\":\"test\"}");
      assertThat(discarded.status()).as(discarded.text()).isEqualTo(200);
    } else {
      String request = how.equals("alias") ? dead.requestId() : late.requestId();
      flood.publish(AdmittedSale.copy(late, request, late.policy()));
      ledger.awaitOrders(sale.sku, 1);
      flood.publish(dead);
    }

    eventually().until(() -> sale.stock() == 100);
    assertThat(sale.quota(1)).isZero();
    ledger.await(
        "SELECT COUNT(*) FROM compensation c JOIN products p ON p.sku_id = c.sku_id"
            + " WHERE c.epoch = p.epoch AND done_at IS NOT NULL AND order_id = "
            + dead.orderId(),
        1);
    awaitClean(sale);
    assertThat(sale.stock()).isEqualTo(ledger.stock(sale.sku));
    assertThat(sale.quota(1)).isEqualTo(how.equals("discarded") ? 0 : 3);
    awaitBalance(sale);
    ledger.check();
  }

  @Test
  void countsNothingTwiceThatComesBackFromTheOldEpoch() { // I7
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 2);
    flood.publish(order);
    ledger.awaitOrders(sale.sku, 1);
    OrderMessage late = sale.admit(2, 1);
    sale.forget();
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    assertThat(sale.stock()).isEqualTo(98);

    assertThat(cancel(order).status()).isEqualTo(200);
    eventually().until(() -> sale.stock() == 100);
    flood.publish(late); // from a lane that had kept it all the time
    ledger.awaitOrders(sale.sku, 2);
    awaitKind(sale, "RECORD_RESTORED");
    awaitClean(sale);

    assertThat(sale.stock()).isEqualTo(99).isEqualTo(ledger.stock(sale.sku));
    assertThat(sale.quota(2)).isEqualTo(1);
    assertThat(sale.field("seq")).isEqualTo(Long.toString(ledger.settled(sale.sku)));
    JsonNode equation = awaitBalance(sale);
    assertThat(equation.at("/units/outboxAndPrivateQueues").longValue()).isZero();
    assertThat(equation.at("/orders/outboxAndPrivateQueues").longValue()).isZero();
    ledger.check();
  }

  @Test
  void countsNothingTwiceWhoseRecordIsRestoredAfterARebuild() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage counted = sale.admit(1, 2);
    flood.publish(counted);
    ledger.awaitOrders(sale.sku, 1);
    OrderMessage late = sale.admit(2, 3);
    sale.forget();
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    flood.publish(late); // an order that the new epoch never admitted
    ledger.awaitOrders(sale.sku, 2);
    sale.forgetRecord(counted); // an order that the new epoch was loaded with

    Answer report = reconcile(sale, false);
    assertThat(subjects(report, "RECORD_RESTORED"))
        .containsOnly(counted.orderId().toString(), late.orderId().toString());
    awaitClean(sale);

    assertThat(sale.result(counted)).isEqualTo("C");
    assertThat(sale.field("seq")).isEqualTo(Long.toString(ledger.settled(sale.sku)));
    assertThat(awaitBalance(sale).at("/orders/admitted").longValue()).isEqualTo(2);
    consumer.api().post("/internal/v1/skus/" + sale.sku + "/state", "{\"state\":\"CLOSED\"}");
    assertThat(consumer.api().post("/internal/v1/skus/" + sale.sku + "/preheat", "{}").status())
        .isEqualTo(200);
    assertThat(ledger.settled(sale.sku)).isEqualTo(Long.parseLong(sale.field("seq")));
  }

  @Test
  void goesOnWithARebuildThatSomebodyElseBegan() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("state", "PREHEATING"); // the process died at this point
    consumer.bean(Schedule.class).round();

    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(sale.field("epoch")).isEqualTo("2");
  }

  @Test
  void asksBeforeItRebuildsWhatIsLost() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.forget();
    consumer.bean(Schedule.class).round();

    assertThat(sale.field("state")).isEqualTo("null");
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
  }

  @Test
  void callsASaleWholeOnlyWhenMySqlHasWhatWasPublishedBeforeRedisChanged() throws SQLException {
    String proven = "SELECT COUNT(*) FROM redis_server WHERE replication_id <> 'another'";
    eventually().until(() -> ledger.number(proven) == 16);
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage first = sale.admit(1, 1);
    OrderMessage second = sale.admit(2, 1);
    try (TestConsumer impatient =
            consumer.another(Map.of("seckill.reconciliation.barrier-timeout", "1s"));
        RowLock lock = consumer.lockProduct(sale.sku)) {
      flood.publish(first, second);
      sale.setField("seq", "1"); // as if Redis had restarted without the second order
      consumer.update("UPDATE redis_server SET replication_id = 'another'");
      Answer report = impatient.api().post(path(sale), "{\"dryRun\":false}");
      assertThat(outcome(report)).isEqualTo("UNPROVEN");
      lock.commit();
    }
    eventually().until(() -> ledger.number(proven) == 16);
    assertThat(outcome(reconcile(sale, true))).isEqualTo("LOST");
  }

  @Test
  void isLostWhenAGatewayKnowsOfAdmissionsThatRedisHasNot() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    flood.publish(sale.admit(1, 1));
    ledger.awaitOrders(sale.sku, 1);
    String path = "/internal/v1/skus/" + sale.sku + "/lost-admissions";
    String lost = "{\"epoch\":%s,\"seq\":5}";

    consumer.api().post(path, lost.formatted("9"));
    assertThat(outcome(reconcile(sale, true))).as("another epoch").isEqualTo("CLEAN");
    assertThat(consumer.api().post(path, lost.formatted(sale.field("epoch"))).status())
        .isEqualTo(204);

    assertThat(outcome(reconcile(sale, true))).isEqualTo("LOST");
    assertThat(ledger.number("SELECT last_seq FROM products WHERE sku_id = " + sale.sku))
        .as("above every sequence number Redis can still admit")
        .isEqualTo(105);
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    awaitClean(sale);
  }

  @Test
  void waitsInRedisListsForARelay() {
    try (TestConsumer impatient =
        consumer.another(Map.of("seckill.reconciliation.barrier-timeout", "1s"))) {
      AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
      OrderMessage order = sale.admit(1, 1);
      sale.outbox(order);
      sale.setField("state", "PREHEATING");

      Answer report = impatient.api().post(path(sale), "{\"dryRun\":false}");
      assertThat(outcome(report)).isEqualTo("UNPROVEN");
      assertThat(sale.field("state")).isEqualTo("PREHEATING");

      consumer.redis().del("seckill:{" + sale.sku % 16 + "}:outbox");
      flood.publish(order);
      assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
      assertThat(sale.stock()).isEqualTo(99);
    }
  }

  @Test
  void letsOneOfTwoProcessesLook() {
    consumer.bean(Schedule.class).round();
    try (TestConsumer second = consumer.another(Map.of())) {
      AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
      sale.setStock(70);

      second.bean(Schedule.class).round();
      second.bean(Schedule.class).round();
      assertThat(sale.stock()).isEqualTo(70);
      assertThat(leader(second)).isZero();
      assertThat(leader(consumer)).isEqualTo(1);

      consumer.bean(Schedule.class).round(); // sees it for the first time
      consumer.bean(Schedule.class).round();
      assertThat(sale.stock()).isEqualTo(100);
    }
  }

  /** The process stops checking, and must not go on reporting what it found before. */
  @Test
  void reportsNothingMoreWhenItLosesTheLockDuringARound() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale lost = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale next = sale(PurchasePolicy.LIMITED, 5, 100);
    lost.forget();
    MeterRegistry meters = new SimpleMeterRegistry();
    AtomicBoolean losesTheLock = new AtomicBoolean();
    RedisSale redis =
        new RedisSale(consumer.redis()) {
          @Override
          RedisSaleState state(long sku) {
            if (losesTheLock.getAndSet(false)) {
              killTheLocksConnection();
            }
            return super.state(sku);
          }
        };
    Schedule schedule = schedule(redis, consumer.bean(Reconciler.class), meters);
    schedule.round();
    assertThat(meters.get("seckill.consumer.reconciliation.leader").gauge().value()).isEqualTo(1);
    assertThat(meters.get("seckill.consumer.sales.lost").gauge().value()).isPositive();

    losesTheLock.set(true);
    schedule.round();

    assertThat(meters.get("seckill.consumer.reconciliation.leader").gauge().value()).isZero();
    assertThat(meters.get("seckill.consumer.sales.lost").gauge().value()).isZero();
    schedule.stop();
    assertThat(outcome(reconcile(lost, false))).isEqualTo("REBUILT");
    assertThat(outcome(reconcile(next, false))).isEqualTo("CLEAN");
  }

  private static void killTheLocksConnection() {
    long holder =
        ledger.number(
            "SELECT IS_USED_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-all'))");
    consumer.update("KILL " + holder);
  }

  @ParameterizedTest
  @CsvSource({
    "seckill:{%d}:bucket:%d:0, abc:, 1",
    "seckill:{%d}:bucket:%d:0, 17, x",
    "seckill:{%d}:bucket:%d:0, 17:key-0001, x:1",
    "seckill:{%d}:bucket:%d:0, compensated:17, 5",
    "seckill:{%d}:changes:%d, 17, 1:x:A"
  })
  void looksAtTheOtherSalesWhenOneCannotBeRead(String key, String field, String value) {
    AdmittedSale unreadable = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale next = sale(PurchasePolicy.LIMITED, 5, 100);
    String stray = key.formatted(unreadable.sku % 16, unreadable.sku);
    consumer.redis().hset(stray, field, value);
    unreadable.setStock(70);
    next.setStock(70);
    Schedule schedule = consumer.bean(Schedule.class);

    schedule.round(); // sees them for the first time
    schedule.round();

    assertThat(next.stock()).isEqualTo(100);
    assertThat(unreadable.stock()).as("not compared, not touched").isEqualTo(70);
    Answer refused = consumer.api().post(path(unreadable), "{\"dryRun\":false}");
    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("UNREADABLE_IN_REDIS");
    assertThat(refused.body().path("detail").asString()).contains(stray, field);

    consumer.redis().hdel(stray, field);
    schedule.round();
    assertThat(unreadable.stock()).isEqualTo(100);
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

  private static AdmittedSale sale(PurchasePolicy policy, int limit, long stock) {
    return new AdmittedSale(consumer, SKUS.incrementAndGet(), policy, limit, stock);
  }

  private static double leader(TestConsumer process) {
    return process.gauge("seckill.consumer.reconciliation.leader");
  }

  private static String path(AdmittedSale sale) {
    return "/internal/v1/skus/" + sale.sku + "/reconciliation";
  }

  private static Answer reconcile(AdmittedSale sale, boolean dryRun) {
    Answer answer = consumer.api().post(path(sale), "{\"dryRun\":" + dryRun + "}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer;
  }

  private static String outcome(Answer report) {
    return report.body().path("outcome").asString();
  }

  /**
   * May take more than one run: a run leaves out recent results, which the process that decided
   * them is still writing to Redis.
   */
  private static void awaitKind(AdmittedSale sale, String kind) {
    eventually().until(() -> kinds(reconcile(sale, false)).contains(kind));
  }

  private static void awaitClean(AdmittedSale sale) {
    eventually().until(() -> outcome(reconcile(sale, false)).equals("CLEAN"));
  }

  private static long reports(AdmittedSale sale) {
    return ledger.number("SELECT COUNT(*) FROM reconciliation WHERE sku_id = " + sale.sku);
  }

  private static void change(AdmittedSale sale, long delta) {
    Answer answer =
        consumer
            .api()
            .with("Idempotency-Key", "change-" + delta)
            .post(
                "/internal/v1/skus/" + sale.sku + "/stock",
                "{\"delta\":" + delta + ",\"reason\":\"test\"}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  private static JsonNode repair(Answer report, String kind) {
    return report
        .body()
        .path("repairs")
        .valueStream()
        .filter(repair -> repair.path("kind").asString().equals(kind))
        .findFirst()
        .orElseThrow();
  }

  private static Set<String> kinds(Answer report) {
    return report
        .body()
        .path("repairs")
        .valueStream()
        .map(repair -> repair.path("kind").asString())
        .collect(toSet());
  }

  private static Set<String> subjects(Answer report, String kind) {
    return report
        .body()
        .path("repairs")
        .valueStream()
        .filter(repair -> repair.path("kind").asString().equals(kind))
        .map(repair -> repair.path("subject").asString())
        .collect(toSet());
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
    return order;
  }

  private static Answer cancel(OrderMessage order) {
    return consumer.api().cancel(order.orderId(), order.userId());
  }

  /** Puts a dead letter of the order into MySQL: its message has another policy. */
  private static String deadLetter(OrderMessage order) {
    flood.publish(AdmittedSale.copy(order, order.requestId(), PurchasePolicy.UNLIMITED));
    String letter = "FROM dead_letter WHERE order_id = " + order.orderId();
    ledger.await("SELECT COUNT(*) " + letter, 1);
    return letter;
  }
}
