package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.runtime.SweeperPauses;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.LoggedLines;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** One process looks at all sales, again and again. */
class ScheduleIT extends ReconciliationFixture {

  private static final ReconciliationProperties OFTEN =
      new ReconciliationProperties(Duration.ofSeconds(1), Duration.ofSeconds(20), false);

  @BeforeEach
  void alone() {
    endOtherSales();
  }

  @Test
  void reportsTheSameAgainOnlyWhenTheSaleMoves() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("stateVersion", consumer.product(sale.sku, "state_version"));
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

  /** Redis did not answer then, or the process died after its COMMIT. */
  @Test
  void completesAnEditOfTheClosingTimeThatRedisHasMissed() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    long closesAt = Instant.parse("2037-01-01T00:00:00Z").toEpochMilli();
    consumer.update(
        "UPDATE products SET closes_at = '2037-01-01', retention_s = 7200 WHERE sku_id = ?",
        sale.sku);

    consumer.bean(Schedule.class).round();

    assertThat(sale.field("closesAt")).isEqualTo(Long.toString(closesAt));
    assertThat(sale.field("expiresAt")).isEqualTo(Long.toString(closesAt + 7_200_000));
  }

  /** The same of an opening; but a stop that MySQL lacks came later. */
  @ParameterizedTest(name = "a stop waits for MySQL: {0}")
  @CsvSource({"false, OPEN", "true, PAUSED"})
  void completesAnOpeningThatRedisHasMissed(boolean isStopped, String expected) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("stateVersion", consumer.product(sale.sku, "state_version"));
    sale.setField("state", "PAUSED");
    consumer.update(
        "UPDATE products SET state_version = state_version + 1 WHERE sku_id = ?", sale.sku);
    if (isStopped) {
      PendingStop stop = new PendingStop(sale.sku, "PAUSED", 1, "tester");
      assertThat(new SaleStates(consumer.redis()).stop(stop)).isTrue();
    }

    consumer.bean(Schedule.class).round();

    assertThat(sale.field("state")).isEqualTo(expected);
    assertThat(sale.field("stateVersion").equals(consumer.product(sale.sku, "state_version")))
        .isEqualTo(!isStopped);
    consumer.redis().hdel(RedisKeys.stops(Partition.ofSku(sale.sku)), Long.toString(sale.sku));
  }

  @Test
  void comparesASaleThatSellsContinuouslyLessOften() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    Schedule schedule = consumer.bean(Schedule.class);
    for (int stock = 79; stock > 76; stock--) {
      sale.setStock(stock);
      schedule.round();
    }
    assertThat(sale.stock()).as("not compared").isEqualTo(77);

    schedule.round();

    assertThat(sale.stock()).as("it has stopped").isEqualTo(100);
  }

  @Tag("proof")
  @Test
  void aLongComparisonOfTheScheduleRestsWhileOrdersAreStored() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 50, 100);
    Timer rests =
        consumer.bean(MeterRegistry.class).get("seckill.consumer.background.rests").timer();
    long before = rests.count();
    AtomicLong orders = new AtomicLong();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  busy(Duration.ofMillis(60));
                  order.stepEnds().run();
                }),
            new SimpleMeterRegistry());
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

  @Tag("proof")
  @Test
  void comparesOthersAfterTheSalesThatAreLost() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale first = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale lost = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale last = sale(PurchasePolicy.LIMITED, 5, 100);
    List<String> states = new ArrayList<>();
    AtomicReference<Schedule> running = new AtomicReference<>();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  if (sku == first.sku || sku == last.sku) {
                    states.add(lost.field("state"));
                    lost.setField("state", RedisSaleState.LOADING); // is lost meanwhile
                    busy(OFTEN.interval());
                    running.get().lookMeanwhile();
                  }
                }),
            OFTEN,
            new SimpleMeterRegistry());
    running.set(schedule);
    schedule.round(); // sees them for the first time
    lost.setField("state", RedisSaleState.LOADING);

    schedule.round();

    assertThat(states).containsExactly("OPEN", "OPEN");
    schedule.round();
    schedule.stop();
  }

  @Test
  void findsASaleThatIsLostWhileItIsCompared() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    AtomicReference<Schedule> running = new AtomicReference<>();
    List<Long> found = new ArrayList<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  if (sku == sale.sku) {
                    sale.forget();
                    eventually().until(() -> looksMeanwhile(running.get(), meters));
                    found.add(sku);
                  }
                }),
            OFTEN,
            meters);
    running.set(schedule);

    schedule.round(); // sees it for the first time
    schedule.round();
    schedule.stop();

    assertThat(found).containsExactly(sale.sku);
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
  }

  @Test
  void rebuildsALostSaleByItselfWhereItMay() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.forget();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            consumer.bean(Reconciler.class),
            new ReconciliationProperties(OFTEN.interval(), OFTEN.barrierTimeout(), true),
            new SimpleMeterRegistry());

    schedule.round();
    schedule.stop();

    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(sale.field("epoch")).isEqualTo("2");
  }

  /** MySQL was restored from a backup: a rebuild gives up orders, and nobody has seen them. */
  @Test
  void beginsNoRebuildOfASaleWhosePreheatMySqlHasLost() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.setField("epoch", "2");
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            consumer.bean(Reconciler.class),
            new ReconciliationProperties(OFTEN.interval(), OFTEN.barrierTimeout(), true),
            new SimpleMeterRegistry());

    schedule.round();
    schedule.stop();

    assertThat(consumer.product(sale.sku, "epoch")).isEqualTo("1");
    assertThat(outcome(reconcile(sale, false))).as("by an operator").isEqualTo("REBUILT");
  }

  /** The rebuild would end the preheat as overtaken. */
  @Test
  void leavesASaleAloneWhosePreheatBeganWhileAnotherWasRebuilt() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale first = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale next = sale(PurchasePolicy.LIMITED, 5, 100);
    List.of(first, next).forEach(sale -> sale.setField("state", RedisSaleState.LOADING));
    List<Long> runs = new ArrayList<>();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  runs.add(sku);
                  beginPreheat(sku == first.sku ? next : first);
                }),
            new SimpleMeterRegistry());

    schedule.round();
    schedule.stop();

    assertThat(runs).hasSize(1);
  }

  private static void beginPreheat(AdmittedSale sale) {
    consumer.update(
        "UPDATE products SET state = 'PREHEATED', epoch = epoch + 1 WHERE sku_id = ?", sale.sku);
    sale.setField("epoch", "0");
    sale.setField("loading", consumer.product(sale.sku, "epoch"));
  }

  /** Returns whether the other thread's round has looked, and found a lost sale. */
  private static boolean looksMeanwhile(Schedule schedule, MeterRegistry meters) {
    SweeperPauses.round(schedule.lostSaleSweeper(OFTEN));
    return meters.get("seckill.consumer.sales.lost").gauge().value() > 0;
  }

  /** Nobody consumes the barrier that the comparison waits for. */
  @Tag("proof")
  @Test
  void findsALostSaleWhileItComparesAnother() {
    try (TestConsumer process =
        TestConsumer.start(
            Map.of(
                "seckill.intake.enabled", "false",
                "seckill.reconciliation.interval", "1s",
                "pause.reconciliationSweeper", "1s",
                "seckill.reconciliation.barrier-timeout", "10m"))) {
      AdmittedSale compared = new AdmittedSale(process, 7_801, PurchasePolicy.LIMITED, 5, 100);
      AdmittedSale lost = new AdmittedSale(process, 7_802, PurchasePolicy.LIMITED, 5, 100);
      compared.admit(1, 1);
      eventually().until(() -> isCompared(process, compared));
      lost.forget();

      eventually().until(() -> process.gauge("seckill.consumer.sales.lost") == 1);
      assertThat(isCompared(process, compared)).isTrue();
    }
  }

  private static boolean isCompared(TestConsumer process, AdmittedSale sale) {
    return process
        .sql()
        .sql("SELECT IS_USED_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), ?)) IS NOT NULL")
        .param("reconcile-" + sale.sku)
        .query(Boolean.class)
        .single();
  }

  @Test
  void asksASilentPartOfRedisOnce() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale first = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale next = sale(PurchasePolicy.LIMITED, 5, 100);
    AtomicLong calls = new AtomicLong();
    RedisSale silent =
        readAfter(
            () -> {
              calls.incrementAndGet();
              throw new JedisConnectionException("does not answer");
            });
    Schedule schedule =
        schedule(silent, consumer.bean(Reconciler.class), new SimpleMeterRegistry());

    schedule.round();
    schedule.stop();

    assertThat(first.sku % 16).isNotEqualTo(next.sku % 16);
    assertThat(calls).hasValue(1);
  }

  /** It answers when all sales are looked at, and not when they are compared. */
  @Test
  void asksAPartOfRedisThatFallsSilentOnce() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale first = sale(PurchasePolicy.LIMITED, 5, 100);
    AdmittedSale next = sale(PurchasePolicy.LIMITED, 5, 100);
    Set<Long> looked = new HashSet<>();
    AtomicLong calls = new AtomicLong();
    RedisSale silent =
        new RedisSale(consumer.redis()) {
          @Override
          Map<Long, RedisSaleState> states(List<Long> skus) {
            if (!looked.addAll(skus)) {
              calls.incrementAndGet();
              throw new JedisConnectionException("does not answer");
            }
            return super.states(skus);
          }
        };
    Schedule schedule =
        schedule(silent, consumer.bean(Reconciler.class), new SimpleMeterRegistry());

    schedule.round();
    schedule.stop();

    assertThat(looked).contains(first.sku, next.sku);
    assertThat(calls).hasValue(1);
  }

  /** Redis answers; a large sale may take longer than a time-out. */
  @ParameterizedTest(name = "of lost sales: {0}")
  @ValueSource(booleans = {false, true})
  void aRunThatTimesOutKeepsNoOtherSaleFromItsOwn(boolean areLost) {
    consumer.bean(Schedule.class).stop();
    List<AdmittedSale> sales =
        List.of(sale(PurchasePolicy.LIMITED, 5, 100), sale(PurchasePolicy.LIMITED, 5, 100));
    if (areLost) {
      sales.forEach(AdmittedSale::forget);
    }
    Set<Long> tried = new HashSet<>();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  if (tried.add(sku) && tried.size() == 1) {
                    throw new JedisConnectionException("timed out");
                  }
                }),
            new ReconciliationProperties(OFTEN.interval(), OFTEN.barrierTimeout(), areLost),
            new SimpleMeterRegistry());

    schedule.round(); // sees them for the first time
    schedule.round();
    schedule.stop();

    assertThat(tried).containsExactlyInAnyOrder(sales.get(0).sku, sales.get(1).sku);
  }

  /** An outage ends by itself. A refusal stays until an operator ends it, and is reported once. */
  @ParameterizedTest
  @MethodSource("failuresOfAComparison")
  void doesNotTakeARefusalOfRedisForItsSilence(JedisException failure, List<String> lines) {
    consumer.bean(Schedule.class).stop();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  throw failure;
                }),
            new SimpleMeterRegistry());
    schedule.round(); // sees it for the first time

    try (LoggedLines logged = LoggedLines.ofThisThread(Schedule.class)) {
      schedule.round();
      schedule.round();
      assertThat(logged.events())
          .extracting(event -> event.getLevel() + " " + event.getFormattedMessage())
          .containsExactlyElementsOf(lines.stream().map(line -> line.formatted(sale.sku)).toList());
    }
    schedule.stop();
  }

  static Stream<Arguments> failuresOfAComparison() {
    String refused = "ERROR sku %d: cannot be compared, and is not repaired until it can be";
    JedisException silence = new JedisConnectionException("timed out");
    String silent = "WARN sku %d: Redis does not answer: " + silence;
    return Stream.of(
        arguments(new JedisAccessControlException("NOPERM no right to hscan"), List.of(refused)),
        arguments(new JedisDataException("WRONGTYPE of this sale"), List.of(refused)),
        arguments(silence, List.of(silent, silent)));
  }

  @Test
  void aLostSaleStaysLostWhileItsPartOfRedisIsSilent() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    sale.forget();
    MeterRegistry meters = new SimpleMeterRegistry();
    AtomicBoolean isSilent = new AtomicBoolean();
    RedisSale redis =
        readAfter(
            () -> {
              if (isSilent.get()) {
                throw new JedisConnectionException("does not answer");
              }
            });
    Schedule schedule = schedule(redis, consumer.bean(Reconciler.class), meters);
    schedule.round();
    assertThat(lostSales(meters)).isEqualTo(1);

    isSilent.set(true);
    schedule.round();
    assertThat(lostSales(meters)).isEqualTo(1);

    isSilent.set(false);
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    schedule.round();
    assertThat(lostSales(meters)).isZero();
    schedule.stop();
  }

  @Test
  void triesEveryHalfMinuteToLeadHoweverRarelyItChecks() {
    consumer.bean(Schedule.class).stop();
    MeterRegistry meters = new SimpleMeterRegistry();
    ReconciliationProperties rarely =
        new ReconciliationProperties(Duration.ofHours(1), Duration.ofSeconds(20), false);
    Schedule schedule =
        schedule(consumer.bean(RedisSale.class), consumer.bean(Reconciler.class), rarely, meters);
    Sweeper sweeper = schedule.reconciliationSweeper(rarely);
    assertThat(sweeper.pause()).hasSeconds(30);

    SweeperPauses.round(sweeper);

    assertThat(meters.get("seckill.consumer.reconciliation.leader").gauge().value()).isEqualTo(1);
    assertThat(sweeper.pause()).hasHours(1);
    schedule.stop();
    assertThat(sweeper.pause()).hasSeconds(30);
    assertThat(schedule.reconciliationSweeper(OFTEN).pause()).hasSeconds(1);
  }

  private static double lostSales(MeterRegistry meters) {
    return meters.get("seckill.consumer.sales.lost").gauge().value();
  }

  @Tag("proof")
  @Test
  void aLongComparisonIsFollowedByTimeForOperators() {
    consumer.bean(Schedule.class).stop();
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    AtomicLong runs = new AtomicLong();
    Schedule schedule =
        schedule(
            consumer.bean(RedisSale.class),
            new Comparing(
                (sku, order) -> {
                  if (sku == sale.sku && runs.incrementAndGet() == 1) {
                    busy(OFTEN.busyInterval());
                  }
                }),
            OFTEN,
            new SimpleMeterRegistry());
    schedule.round(); // sees it for the first time
    schedule.round();
    assertThat(runs).hasValue(1);

    sale.setStock(99);
    schedule.round();

    assertThat(runs).hasValue(1);
    schedule.stop();
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
    eventually()
        .untilAsserted(
            () -> {
              Answer balance = consumer.api().get("/internal/v1/skus/" + sale.sku + "/ledger");
              assertThat(balance.body().at("/units/difference").longValue())
                  .as(balance.text())
                  .isZero();
            });
  }

  @Test
  void saysWhatRedisHasOfASaleThatItNeedNotHave() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    consumer.update("UPDATE products SET state = 'CLOSED' WHERE sku_id = ?", sale.sku);
    sale.setField("epoch", "0"); // of a backup

    Answer old = reconcile(sale, false);
    new SaleStates(consumer.redis()).stop(new PendingStop(sale.sku, "CLOSED", 1, "tester"));
    String path = "/internal/v1/skus/" + sale.sku;
    List<Integer> wayOut =
        List.of(
            consumer.api().post(path + "/state", "{\"state\":\"CLOSED\"}").status(),
            eventually() // the barrier may be late
                .until(() -> consumer.api().post(path + "/preheat").status(), is -> is == 200),
            consumer.api().post(path + "/state", "{\"state\":\"CLOSED\"}").status());
    sale.forget();
    Answer absent = reconcile(sale, false);

    assertThat(List.of(outcome(old), outcome(absent))).containsOnly("NOT_ON_SALE");
    assertThat(old.body().path("detail").asString()).contains("older data", "preheat it");
    assertThat(wayOut).containsOnly(200);
    assertThat(absent.body().path("detail").asString()).endsWith("and has not.");
  }

  @Test
  void missesNoSaleInRedisThatIsBeingPreheated() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    double lost = lostSales();
    consumer.update("UPDATE products SET state = 'PREHEATED' WHERE sku_id = ?", sale.sku);
    sale.setField("state", RedisSaleState.LOADING);
    sale.setField("epoch", "0");
    sale.setField("loading", consumer.product(sale.sku, "epoch"));

    assertThat(lostSales()).as("sales that wait for a rebuild").isEqualTo(lost);
    assertThat(outcome(reconcile(sale, true))).isEqualTo("UNPROVEN");
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
  }

  /** The advice was to close it and to preheat it, which overtakes the one under way. */
  @Test
  void takesAPreheatAfterTheClosingTimeForNoOlderData() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    beginPreheat(sale);
    sale.setField("state", RedisSaleState.LOADING);
    consumer.update("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = ?", sale.sku);

    Answer during = reconcile(sale, false);

    assertThat(outcome(during)).isEqualTo("NOT_ON_SALE");
    assertThat(during.text("detail")).startsWith("A preheat of this sale is under way");
  }

  @Test
  void missesNoStrongSaleInRedis() {
    double lost = lostSales();
    new Sales(consumer).openStrong(7_903, "LIMITED", 5, 20);

    assertThat(lostSales()).as("sales that wait for a rebuild").isEqualTo(lost);
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
        readAfter(
            () -> {
              if (losesTheLock.getAndSet(false)) {
                killTheLocksConnection();
              }
            });
    Schedule schedule = schedule(redis, consumer.bean(Reconciler.class), meters);
    schedule.round();
    assertThat(meters.get("seckill.consumer.reconciliation.leader").gauge().value()).isEqualTo(1);
    assertThat(meters.get("seckill.consumer.sales.lost").gauge().value()).isPositive();
    assertThat(lostSales()).as("of a process without the lock").isZero();
    assertThat(consumer.gauge("seckill.consumer.reconciliation.leader")).isZero();

    losesTheLock.set(true);
    schedule.round();

    assertThat(meters.get("seckill.consumer.reconciliation.leader").gauge().value()).isZero();
    assertThat(meters.get("seckill.consumer.sales.lost").gauge().value()).isZero();
    schedule.stop();
    assertThat(outcome(reconcile(lost, false))).isEqualTo("REBUILT");
    assertThat(outcome(reconcile(next, false))).isEqualTo("CLEAN");
  }

  @Test
  void looksAtTheOtherSalesWhenOneCannotBeRead() {
    looksAtTheOthers("seckill:{%d}:bucket:%d:0", "abc:", "1");
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({
    "seckill:{%d}:bucket:%d:0, 17, x",
    "seckill:{%d}:bucket:%d:0, 17:key-0001, x:1",
    "seckill:{%d}:bucket:%d:0, compensated:17, 5",
    "seckill:{%d}:changes:%d, 17, 1:x:A"
  })
  void looksAtTheOtherSalesBesideAnyUnreadableEntry(String key, String field, String value) {
    looksAtTheOthers(key, field, value);
  }

  private static void looksAtTheOthers(String key, String field, String value) {
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

  /** Returns the gauge after the next round of the schedule. */
  private static double lostSales() {
    consumer.bean(Schedule.class).round();
    return consumer.gauge("seckill.consumer.sales.lost");
  }

  /** Another one than the consumer's, which must have been stopped. */
  private static Schedule schedule(RedisSale redis, Reconciler reconciler, MeterRegistry meters) {
    return schedule(redis, reconciler, consumer.bean(ReconciliationProperties.class), meters);
  }

  private static Schedule schedule(
      RedisSale redis,
      Reconciler reconciler,
      ReconciliationProperties settings,
      MeterRegistry meters) {
    return new Schedule(
        consumer.bean(ConnectionPools.class),
        consumer.sql(),
        redis,
        reconciler,
        settings,
        consumer.bean(Pace.class),
        consumer.bean(RedisCallGuard.class),
        meters);
  }

  /** Redis, in which each read of the states of sales comes after this. */
  private static RedisSale readAfter(Runnable first) {
    return new RedisSale(consumer.redis()) {
      @Override
      Map<Long, RedisSaleState> states(List<Long> skus) {
        first.run();
        return super.states(skus);
      }
    };
  }

  private static void killTheLocksConnection() {
    long holder =
        ledger.number(
            "SELECT IS_USED_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-all'))");
    consumer.update("KILL " + holder);
  }

  private static void busy(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  /** Does something at the beginning of each run. */
  private static final class Comparing extends Reconciler {

    private final BiConsumer<Long, Order> before;

    Comparing(BiConsumer<Long, Order> before) {
      super(
          consumer.bean(ConnectionPools.class),
          consumer.bean(SaleReconciliation.class),
          consumer.bean(ReconciliationTable.class),
          consumer.bean(ReconciliationProperties.class),
          consumer.bean(Clock.class),
          new SimpleMeterRegistry());
      this.before = before;
    }

    @Override
    Report run(long skuId, Order order) {
      before.accept(skuId, order);
      return super.run(skuId, order);
    }
  }
}
