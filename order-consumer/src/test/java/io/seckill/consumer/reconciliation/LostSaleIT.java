package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.OtherPreheat;
import io.seckill.consumer.loading.SaleLoader;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.RowLock;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

/** Sales that Redis has lost are rebuilt from MySQL. */
class LostSaleIT extends ReconciliationFixture {

  /** Waits a second for a barrier. */
  private static final ReconciliationProperties IMPATIENT =
      new ReconciliationProperties(Duration.ofHours(1), Duration.ofSeconds(1), false);

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
  void rebuildsASaleThatRedisHasLostUnderANewEpoch() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    List<OrderMessage> orders = new ArrayList<>();
    for (int user = 1; user <= 20; user++) {
      orders.add(sale.admit(user, 2));
    }
    flood.publish(orders.subList(0, 10));
    consumer.update("UPDATE products SET change_seq = 1 WHERE sku_id = ?", sale.sku);
    sale.forget();
    flood.publish(orders.subList(10, 20)); // orders that the broker still had

    assertThat(outcome(reconcile(sale, true))).isEqualTo("LOST");
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.field("epoch")).isEqualTo("2");
    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(Long.parseLong(sale.field("seq"))).isGreaterThanOrEqualTo(20);
    assertThat(consumer.product(sale.sku, "change_seq")).isEqualTo("0");
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
    OtherPreheat.of(consumer, 7, Duration.ofHours(2)).run(sale.sku, (sku, orders) -> {});
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

  /** A repeat of a purchase may push its order once more, as other bytes. */
  @Test
  void reservesTheUnitsOfAnOrderWithTwoDeadLettersOnce() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage dead = sale.admit(1, 3);
    String letters = deadLetter(dead);
    flood.publish(AdmittedSale.copy(dead, "repeated", PurchasePolicy.UNLIMITED));
    ledger.await("SELECT COUNT(*) " + letters, 2);
    sale.forget();

    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");

    assertThat(sale.stock()).isEqualTo(97);
    assertThat(sale.quota(1)).isEqualTo(3);
    assertThat(Long.parseLong(sale.field("seq")) - ledger.settled(sale.sku))
        .as("orders not settled")
        .isEqualTo(1);
    assertThat(sale.field("admittedOrders")).isEqualTo("1");
    awaitBalance(sale);
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
      discard(letter);
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

  /** Its units return to the data that are replaced then, and have to return once more. */
  @Test
  void returnsTheUnitsOfADeadLetterThatIsDiscardedDuringTheLoading() { // I7
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage dead = sale.admit(1, 3);
    String letter = deadLetter(dead);
    sale.setField("state", "PREHEATING");
    consumer.update("UPDATE products SET epoch = 2 WHERE sku_id = ?", sale.sku);
    SaleLoader loader = consumer.bean(SaleLoader.class);

    // After the snapshot; a repeat changes nothing.
    assertThat(loader.load(sale.sku, 2, Replacing.ANYTHING, () -> discard(letter))).isPresent();

    assertThat(sale.stock()).isEqualTo(100);
    assertThat(sale.quota(1)).isZero();
    assertThat(ledger.number("SELECT epoch FROM compensation WHERE order_id = " + dead.orderId()))
        .isEqualTo(2);
  }

  /**
   * @param letter as {@link #deadLetter} returns it
   */
  private static void discard(String letter) {
    String path = "/internal/v1/dead-letters/" + ledger.number("SELECT id " + letter);
    Answer discarded = consumer.api().post(path + "/discard", "{\"reason\":\"test\"}");
    assertThat(discarded.status()).as(discarded.text()).isEqualTo(200);
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
    endOtherSales();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("state", "PREHEATING"); // the process died at this point
    consumer.bean(Schedule.class).round();

    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(sale.field("epoch")).isEqualTo("2");
  }

  @Test
  void asksBeforeItRebuildsWhatIsLost() {
    endOtherSales();
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
    consumer.sweep("redisServerSweeper"); // forgets the barriers of this proof
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage first = sale.admit(1, 1);
    OrderMessage second = sale.admit(2, 1);
    try (RowLock lock = consumer.lockProduct(sale.sku)) {
      flood.publish(first, second);
      sale.setField("seq", "1"); // as if Redis had restarted without the second order
      consumer.update("UPDATE redis_server SET replication_id = 'another'");
      Report report = impatient().run(sale.sku, new Reconciler.Order(false, true, "tester"));
      assertThat(report.outcome()).isEqualTo(RunOutcome.UNPROVEN);
      lock.commit();
    }
    eventually().until(() -> ledger.number(proven) == 16);
    assertThat(outcome(reconcile(sale, true))).isEqualTo("LOST");
  }

  @Test
  void readsASaleAgainOnceMySqlHasWhatWasPublishedBeforeRedisChanged() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage first = sale.admit(1, 1);
    OrderMessage second = sale.admit(2, 1);
    sale.setField("seq", "1"); // as if Redis had restarted without the second order
    RedisServers changed =
        new RedisServers(
            consumer.sql(),
            consumer.bean(UnifiedJedis.class),
            consumer.bean(Barriers.class),
            IMPATIENT) {
          @Override
          String provenServer(int partition) {
            return "another";
          }

          @Override
          boolean prove(int partition) {
            flood.publish(first, second);
            ledger.awaitOrders(sale.sku, 2);
            return true;
          }
        };

    Report report = impatient(changed).run(sale.sku, new Reconciler.Order(true, true, "tester"));

    assertThat(report.outcome()).isEqualTo(RunOutcome.LOST);
  }

  /** Its rows are older than the proof. */
  @Test
  void readsASaleAgainWhoseServerIsProvenWhileItIsCompared() {
    String proven = "SELECT COUNT(*) FROM redis_server WHERE replication_id <> 'another'";
    eventually().until(() -> ledger.number(proven) == 16);
    consumer.sweep("redisServerSweeper"); // forgets the barriers of this proof
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage first = sale.admit(1, 1);
    OrderMessage second = sale.admit(2, 1);
    Report report;
    try (RowLock lock = consumer.lockProduct(sale.sku)) {
      flood.publish(first, second);
      sale.setField("seq", "1"); // as if Redis had restarted without the second order
      consumer.update("UPDATE redis_server SET replication_id = 'another'");
      Runnable stored =
          () -> {
            lock.commit();
            ledger.awaitOrders(sale.sku, 2);
            eventually().until(() -> ledger.number(proven) == 16);
          };
      report =
          consumer
              .bean(Reconciler.class)
              .run(sale.sku, new Reconciler.Order(true, true, "tester", stored, true));
    }

    assertThat(report.outcome()).isEqualTo(RunOutcome.LOST);
  }

  /** Its rebuild needs the lock, and an audit would store each quota as a difference. */
  @Test
  void endsTheComparisonOfASaleThatIsLostMeanwhile() {
    AdmittedSale sale = saleWithAnOrder();

    assertEnds(sale, sale::forget);

    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
  }

  @Test
  void endsTheComparisonOfASaleThatIsPreheatedMeanwhile() {
    AdmittedSale sale = saleWithAnOrder();
    String path = "/internal/v1/skus/" + sale.sku;
    consumer.api().post(path + "/state", "{\"state\":\"CLOSED\"}");
    AtomicBoolean isPreheated = new AtomicBoolean();

    assertEnds(
        sale,
        () -> {
          if (isPreheated.compareAndSet(false, true)) {
            eventually() // a barrier may be late
                .until(() -> consumer.api().post(path + "/preheat").status(), is -> is == 200);
          }
        });

    awaitClean(sale);
  }

  /** As the beginning of an archive, or of a fallback; Redis still has the sale. */
  @Test
  void endsTheComparisonOfASaleThatMySqlDecidesMeanwhile() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    String decides = "UPDATE products SET decides = ? WHERE sku_id = ?";

    assertEnds(sale, () -> consumer.update(decides, "MYSQL", sale.sku));

    consumer.update(decides, "REDIS", sale.sku);
  }

  private static AdmittedSale saleWithAnOrder() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 2);
    flood.publish(order);
    eventually().until(() -> sale.result(order).equals("C"));
    return sale;
  }

  /**
   * @param meanwhile runs after each step
   */
  private static void assertEnds(AdmittedSale sale, Runnable meanwhile) {
    Reconciler reconciler = consumer.bean(Reconciler.class);
    assertThatThrownBy(() -> reconciler.differences(sale.sku, meanwhile))
        .hasMessageContaining("UNAVAILABLE: Redis has lost the sale meanwhile, or");
  }

  private static Reconciler impatient() {
    return impatient(
        new RedisServers(
            consumer.sql(),
            consumer.bean(UnifiedJedis.class),
            consumer.bean(Barriers.class),
            IMPATIENT));
  }

  private static Reconciler impatient(RedisServers servers) {
    SaleReconciliation patient = consumer.bean(SaleReconciliation.class);
    return new Reconciler(
        consumer.bean(ConnectionPools.class),
        new SaleReconciliation(
            new Comparisons(
                patient.comparisons().snapshots(),
                patient.comparisons().redis(),
                servers,
                patient.comparisons().jdbc()),
            patient.lostOrders(),
            patient.repairs(),
            patient.rebuild(),
            servers,
            patient.admittedUnits(),
            IMPATIENT),
        consumer.bean(ReconciliationTable.class),
        IMPATIENT,
        Clock.systemUTC(),
        new SimpleMeterRegistry());
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
  void aReportRaisesTheSequenceByNoMoreThanRedisCanHoldOrders() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    String path = "/internal/v1/skus/" + sale.sku + "/lost-admissions";

    consumer.api().post(path, "{\"epoch\":1,\"seq\":99999999999999}");

    assertThat(ledger.number("SELECT last_seq FROM products WHERE sku_id = " + sale.sku))
        .isEqualTo(1_000_000_100);
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
  }

  @Tag("proof")
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
}
