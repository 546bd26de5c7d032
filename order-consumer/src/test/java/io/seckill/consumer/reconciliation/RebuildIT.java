package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.RowLock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A rebuild that concurrent operations interfere with. */
class RebuildIT extends ReconciliationFixture {

  private final AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
  private final String path = "/internal/v1/skus/" + sale.sku;

  @ParameterizedTest
  @ValueSource(strings = {"PAUSED", "CLOSED"})
  void keepsTheStopOfAnOperatorWhoWasFasterThanTheLoading(String state) {
    String report =
        whileLoading(() -> consumer.api().post(path + "/state", "{\"state\":\"" + state + "\"}"));

    assertThat(report).isEqualTo("REBUILT");
    assertThat(sale.field("state")).isEqualTo(state);
  }

  @Test
  void loadsTheSaleAgainWhenItsClosingTimeMovesMeanwhile() {
    String later = "2037-01-01T00:00:00Z";
    String product = Sales.product("LIMITED", 5, 100).replace("2036-01-01T00:00:00.123Z", later);

    String report =
        whileLoading(() -> assertThat(consumer.api().put(path, product).status()).isEqualTo(200));

    assertThat(report).isEqualTo("REBUILT");
    assertThat(sale.field("closesAt")).isEqualTo(millis(later));
    assertThat(Long.parseLong(sale.field("expiresAt")))
        .isGreaterThan(Long.parseLong(millis(later)));
    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(sale.field("epoch")).isEqualTo("3").isEqualTo(Long.toString(epoch()));
  }

  /** A second rebuild would overwrite the admissions since the first. */
  @Test
  void leavesASaleAloneThatAnotherRunHasRebuilt() {
    String report =
        whileOrdersWait(() -> new Sales(consumer).openInRedis(sale.sku, "LIMITED", 5, 100));

    assertThat(report).isEqualTo("UNPROVEN");
    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(epoch()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"state, OPEN", "loading, 7"})
  void leavesASaleAloneThatHasChangedInRedisMeanwhile(String field, String value) {
    Found end = rebuild(sale, SOON, part -> sale.setField(field, value));

    assertThat(end.outcome()).isEqualTo(RunOutcome.UNPROVEN);
    assertThat(end.detail()).contains("Redis has changed");
    assertThat(epoch()).isEqualTo(1);
  }

  @Test
  void endsWhenItHasLostItsLock() {
    String report = whileOrdersWait(() -> breakTheLock(sale));

    assertThat(report).isEqualTo("UNPROVEN");
    assertThat(sale.field("state")).isEqualTo("PREHEATING");
    assertThat(epoch()).isEqualTo(1);

    assertThat(reconcile()).as("the next run continues").isEqualTo("REBUILT");
    assertThat(sale.field("state")).isEqualTo("OPEN");
  }

  /** It was read as one that Redis would not keep, and MySQL still decides it. */
  @Test
  void aSaleThatIsExtendedBeforeItsFallbackEndsHasNotReturned() {
    consumer.update(
        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', epoch = 2,"
            + " closes_at = UTC_TIMESTAMP(3) - INTERVAL 3 DAY WHERE sku_id = ?",
        sale.sku);
    SaleReconciliation runs = consumer.bean(SaleReconciliation.class);
    Rebuild bean = runs.rebuild();
    JdbcClient extendsFirst =
        statement -> {
          if (statement.startsWith("UPDATE products SET decides")) {
            consumer.update(
                "UPDATE products SET closes_at = '2036-01-01' WHERE sku_id = ?", sale.sku);
          }
          return bean.jdbc().sql(statement);
        };
    Rebuild rebuild =
        new Rebuild(
            bean.loader(),
            extendsFirst,
            bean.transactions(),
            bean.sales(),
            bean.lists(),
            bean.barriers(),
            bean.lost());
    try (RunLock lock = lock(sale)) {
      Found found =
          new SaleReconciliation(
                  runs.comparisons(),
                  runs.lostOrders(),
                  runs.repairs(),
                  rebuild,
                  runs.servers(),
                  runs.admittedUnits(),
                  runs.settings())
              .returnToRedis(sale.sku, SOON, lock);

      assertThat(found.outcome()).isEqualTo(RunOutcome.UNPROVEN);
      assertThat(found.detail()).contains("has changed in MySQL");
      assertThat(consumer.product(sale.sku, "sale_phase")).isEqualTo("MYSQL");
    } finally {
      consumer.update(
          "UPDATE products SET decides = 'REDIS', fallback = 'NO', state = 'CLOSED'"
              + " WHERE sku_id = ?",
          sale.sku);
    }
  }

  /** MySQL would end the connection of the lock, too, if a long search sent nothing on it. */
  @Test
  void looksAtItsLockBeforeEachPartOfItsSearchForLostOrders() {
    AdmittedSale large = sale(PurchasePolicy.LIMITED, 5, 21_000);
    large.setField("bucketCount", "3"); // so full that each is read alone
    List<Integer> parts = new ArrayList<>();

    Found end =
        rebuild(
            large,
            SOON,
            part -> {
              parts.add(part);
              if (part == 0) {
                breakTheLock(large);
              }
            });

    assertThat(end.detail()).contains("lost its lock");
    assertThat(parts).containsExactly(0);
  }

  @Test
  void waitsForAnOrderInRedisLists() {
    OrderMessage order = sale.admit(1, 1);
    sale.outbox(order);

    Found end = rebuild(sale, Duration.ZERO, part -> {});

    assertThat(end.outcome()).isEqualTo(RunOutcome.UNPROVEN);
    assertThat(end.detail()).contains("still in Redis's lists");
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    flood.publish(order);
    assertThat(reconcile()).isEqualTo("REBUILT");
    assertThat(sale.stock()).isEqualTo(99);
  }

  @Test
  void sendsABarrierBehindAnOrderThatItHasSentAgain() {
    String barriers = "SELECT COUNT(*) FROM barrier";
    OrderMessage lost = sale.admit(1, 1);
    long before = ledger.number(barriers);

    Found end = rebuild(sale, SOON, part -> {});

    assertThat(end.outcome()).as(end.detail()).isEqualTo(RunOutcome.REBUILT);
    assertThat(ledger.number(barriers) - before).as("the second").isEqualTo(2);
    assertThat(ledger.status(lost)).isEqualTo("CONFIRMED");
  }

  /** The loading would remove its record, and nothing else has the order. */
  @Test
  void waitsWhileALostOrderCannotBeSentAgain() {
    OrderMessage lost = sale.admit(1, 1);
    LostOrders bean = consumer.bean(LostOrders.class);
    ConfirmingPublisher confirmsNothing = new ConfirmingPublisher(null, "test", channel -> {});
    confirmsNothing.close();
    LostOrders unsent =
        new LostOrders(bean.sales(), bean.lists(), bean.barriers(), bean.known(), confirmsNothing);

    assertThat(rebuild(sale, SOON, part -> {}, unsent).outcome()).isEqualTo(RunOutcome.UNPROVEN);
    assertThat(epoch()).isEqualTo(1);

    Found end = rebuild(sale, SOON, part -> {});
    assertThat(end.outcome()).as(end.detail()).isEqualTo(RunOutcome.REBUILT);
    assertThat(ledger.status(lost)).isEqualTo("CONFIRMED");
  }

  @Tag("proof")
  @Test
  void waitsAsLongForTheBarrierBehindAnOrderThatItHasSentAgain() {
    OrderMessage lost = sale.admit(1, 1);
    Duration atMost = Duration.ofSeconds(10);
    long began = System.nanoTime();

    Found end =
        rebuild(
            sale,
            atMost,
            part -> eventually().until(() -> System.nanoTime() - began > atMost.toNanos()));

    assertThat(end.outcome()).as(end.detail()).isEqualTo(RunOutcome.REBUILT);
    assertThat(ledger.status(lost)).isEqualTo("CONFIRMED");
  }

  @Test
  void rebuildsASaleOfWhichRedisHasOneFieldLeft() {
    sale.forget();
    sale.setField("settled", "3");

    assertThat(reconcile()).isEqualTo("REBUILT");
    assertThat(sale.field("state")).isEqualTo("OPEN");
  }

  /** The numbers of MySQL only rise, and {@code admit.lua} takes 14 digits. */
  @ParameterizedTest
  @CsvSource({
    "seq, 99999999999999",
    "seq, 100000000000000000",
    "epoch, 99999999999999",
    "epoch, 100000000000000000",
    "loading, 100000000000000000"
  })
  void continuesBelowANumberThatNoServiceCanHaveWritten(String field, String value) {
    if (field.equals("loading")) {
      sale.setField("state", "PREHEATING");
    }
    sale.setField(field, value);

    assertThat(reconcile()).isEqualTo("REBUILT");
    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(Long.parseLong(sale.field("seq"))).isLessThanOrEqualTo(2_000_000_000L);
    assertThat(Long.parseLong(sale.field("epoch"))).isLessThanOrEqualTo(2_000_000_000L);
  }

  /** Only the last step of a loading writes it, in an epoch that nobody needs then. */
  @Test
  void beginsNoEpochWhereSomethingElseIsInThePlaceOfThePendingStops() {
    String stops = RedisKeys.stops(Partition.ofSku(sale.sku));
    sale.forget();
    consumer.redis().set(stops, "foreign");
    try {
      Answer report = reconcile(sale, false);

      assertThat(outcome(report)).isEqualTo("UNPROVEN");
      assertThat(report.text("detail")).contains(stops);
      assertThat(epoch()).isEqualTo(1);
    } finally {
      consumer.redis().del(stops);
    }
    assertThat(reconcile()).isEqualTo("REBUILT");
  }

  @Test
  void namesTheReasonForWhichRedisRefusesARebuild() {
    sale.forget();
    consumer.redis().configSet("min-replicas-to-write", "1");
    try {
      Answer refused = consumer.api().post(path(sale), "{\"dryRun\":false}");

      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.text("detail")).startsWith("Redis refuses: NOREPLICAS");
    } finally {
      consumer.redis().configSet("min-replicas-to-write", "0");
    }
    assertThat(reconcile()).isEqualTo("REBUILT");
  }

  /**
   * Makes the change after the load has read the sale from MySQL; a table lock keeps it from
   * finishing.
   */
  private String whileLoading(Runnable change) {
    sale.forget();
    CompletableFuture<String> outcome;
    try (RowLock held = consumer.lock("LOCK TABLES stock_change WRITE")) {
      outcome = CompletableFuture.supplyAsync(this::reconcile);
      eventually().until(() -> sale.field("loading").equals("2"));
      change.run();
      held.release();
    }
    return outcome.orTimeout(5, TimeUnit.MINUTES).join();
  }

  /** Makes the change while the sale is stopped and the rebuild waits for its orders in flight. */
  private String whileOrdersWait(Runnable change) {
    OrderMessage order = sale.admit(1, 1);
    sale.outbox(order);
    sale.forget();
    CompletableFuture<String> outcome = CompletableFuture.supplyAsync(this::reconcile);
    eventually().until(() -> sale.field("state").equals("PREHEATING"));
    change.run();
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    return outcome.orTimeout(5, TimeUnit.MINUTES).join();
  }

  /**
   * Rebuilds a sale with orders in Redis.
   *
   * @param searching called with the first bucket of each part before it is read
   */
  private static Found rebuild(AdmittedSale sale, Duration atMost, IntConsumer searching) {
    return rebuild(sale, atMost, searching, consumer.bean(LostOrders.class));
  }

  private static Found rebuild(
      AdmittedSale sale, Duration atMost, IntConsumer searching, LostOrders lost) {
    Rebuild bean = consumer.bean(Rebuild.class);
    RedisSale redis =
        new RedisSale(consumer.redis()) {
          @Override
          RedisPart part(ProductSnapshot sold, int from, int to) {
            searching.accept(from);
            return super.part(sold, from, to);
          }
        };
    Rebuild rebuild =
        new Rebuild(
            bean.loader(),
            bean.jdbc(),
            bean.transactions(),
            redis,
            bean.lists(),
            bean.barriers(),
            new LostOrders(redis, lost.lists(), lost.barriers(), lost.known(), lost.publisher()));
    try (RunLock lock = lock(sale)) {
      return rebuild.run(
          consumer.bean(Comparisons.class).sale(sale.sku).orElseThrow(),
          redis.state(sale.sku),
          atMost,
          lock);
    }
  }

  private static RunLock lock(AdmittedSale sale) {
    return eventually()
        .until(
            () ->
                RunLock.take(
                    consumer.bean(ConnectionPools.class).reconciliation(),
                    "reconcile-" + sale.sku,
                    Duration.ofMinutes(5)),
            Optional::isPresent)
        .orElseThrow();
  }

  /** As when MySQL closes the run's connection because its host was silent for too long. */
  private static void breakTheLock(AdmittedSale sale) {
    long connection =
        ledger.number(
            "SELECT IS_USED_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-%d'))"
                .formatted(sale.sku));
    consumer.update("KILL " + connection);
  }

  private String reconcile() {
    return outcome(reconcile(sale, false));
  }

  private long epoch() {
    return ledger.number("SELECT epoch FROM products WHERE sku_id = " + sale.sku);
  }

  private static String millis(String time) {
    return Long.toString(Instant.parse(time).toEpochMilli());
  }
}
