package io.seckill.consumer.audit;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.loading.DatabaseSnapshots;
import io.seckill.consumer.reconciliation.Reconciler;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.core.io.ClassPathResource;
import redis.clients.jedis.params.SetParams;

/** The round that makes the audits of a day. */
@ExtendWith(TestServers.class)
class DailyAuditIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(32_001);

  /** No other test has audits of this day. */
  private static final Instant NOW = Instant.parse("2031-05-05T10:00:00Z");

  private static final LocalDate DAY = LocalDate.of(2031, 5, 5);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final Sales sales = new Sales(consumer);
  private static final ConnectionPools pools = consumer.bean(ConnectionPools.class);

  private final long first = NEXT_SKU.getAndAdd(2);
  private final long second = first + 1;
  private final CountDownLatch counting = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private volatile long heldSku;
  private volatile Instant now = NOW;
  private final AuditTable table =
      new AuditTable(consumer.sql()) {
        @Override
        Instant now() {
          return now;
        }

        @Override
        List<Long> due(Instant due) {
          assertThat(due).isEqualTo(Instant.parse("2031-05-05T03:00:00Z"));
          return super.due(due).stream().filter(sku -> sku == first || sku == second).toList();
        }

        @Override
        long repairs(long sku, Instant due) {
          if (sku == heldSku) {
            counting.countDown();
            Bounded.await(goOn);
          }
          return super.repairs(sku, due);
        }
      };
  private final DailyAudit audits =
      new DailyAudit(
          consumer.bean(DatabaseSnapshots.class),
          table,
          consumer.bean(Reconciler.class),
          pools,
          consumer.bean(Pace.class),
          new SimpleMeterRegistry());

  @Test
  void aSaleThatCannotBeAuditedNowStaysDueAndKeepsNoOtherWaiting() {
    sales.open(first, "LIMITED", 5, 10);
    sales.openStrong(second, "LIMITED", 5, 10);

    try (RunLock reconciliation = lock("reconcile-" + first)) {
      awaitAudits(second);
      assertThat(reconciliation.isHeld()).isTrue();
    }
    assertThat(table.due(Instant.parse("2031-05-05T03:00:00Z"))).containsExactly(first);

    awaitAudits(first, second);
    assertThat(table.of(DAY, first - 1, 1).get(0).madeAt()).isEqualTo(NOW);
  }

  /** The comparison of each of the others may take an hour. */
  @Test
  void aShardThatCannotBeComparedNowKeepsTheComparisonsOfTheOthers() {
    sales.openStrong(second, "LIMITED", 5, 10);
    List<Long> shards = twoShards(first);

    try (RunLock last = lock("reconcile-" + shards.get(1))) {
      awaitAudits(second);
      audits.round(); // the service beside may have kept the first shard from it
      assertThat(last.isHeld()).isTrue();
    }
    try (RunLock compared = lock("reconcile-" + shards.get(0))) {
      awaitAudits(first, second);
      assertThat(compared.isHeld()).isTrue();
    }

    SaleAudit audit = table.of(DAY, first - 1, 1).get(0);
    assertThat(audit.differences()).isEmpty();
    assertThat(audit.madeAt()).as("before the first comparison").isEqualTo(NOW);
  }

  @Test
  void aDifferenceThatIsRepairedBeforeTheAuditIsMadeIsNotInIt() {
    List<Long> shards = twoShards(first);
    String stock = RedisKeys.stock(shards.get(0));

    try (RunLock last = lock("reconcile-" + shards.get(1))) {
      String units = consumer.redis().get(stock);
      consumer.redis().incrBy(stock, 2);
      audits.round();
      consumer.redis().set(stock, units, SetParams.setParams().keepTtl());
      assertThat(last.isHeld()).isTrue();
    }
    awaitAudits(first);

    assertThat(table.of(DAY, first - 1, 1).get(0).differences()).isEmpty();
  }

  private static List<Long> twoShards(long sku) {
    String path = "/internal/v1/skus/" + sku;
    String product =
        Sales.product("LIMITED", 1, 200).replace("\"stock\"", "\"shards\":2,\"stock\"");
    consumer.api().put(path, product);
    assertThat(consumer.api().post(path + "/preheat").status()).isEqualTo(200);
    return Shards.ids(sku, 2);
  }

  @Test
  void oneProcessMakesTheAudits() {
    sales.openStrong(first, "LIMITED", 5, 10);

    try (RunLock other = lock("daily-audit")) {
      audits.round();
      assertThat(other.isHeld()).isTrue();
    }
    assertThat(audited()).isEmpty();

    awaitAudits(first);
  }

  /** Else audits could take all connections of reconciliations and preheats. */
  @Test
  void countsOneSaleAtATimeForOperators() {
    sales.openStrong(first, "LIMITED", 5, 10);
    sales.openStrong(second, "LIMITED", 5, 10);
    heldSku = first;

    CompletableFuture<SaleAudit> audit = CompletableFuture.supplyAsync(() -> audits.audit(first));
    try {
      Bounded.await(counting);
      assertThatThrownBy(() -> audits.audit(second)).hasMessageContaining("BUSY");
    } finally {
      goOn.countDown();
    }

    assertThat(Bounded.get(audit).skuId()).isEqualTo(first);
    assertThat(audits.audit(second).skuId()).isEqualTo(second);
  }

  /** Its comparison is that old, however long the count takes. */
  @Test
  void hasTheTimeAtWhichItBegan() {
    sales.openStrong(first, "LIMITED", 5, 10);
    heldSku = first;

    CompletableFuture<SaleAudit> audit = CompletableFuture.supplyAsync(() -> audits.audit(first));
    try {
      Bounded.await(counting);
      now = NOW.plusSeconds(60);
    } finally {
      goOn.countDown();
    }

    assertThat(Bounded.get(audit).madeAt()).isEqualTo(NOW);
  }

  /** Messages are not consumed, as when the service lags: the order may be in the broker. */
  @Test
  void aSaleWhoseOrdersMayBeOnTheirWayStaysDue() {
    Map<String, String> lagging =
        Map.of("seckill.intake.enabled", "false", "seckill.reconciliation.barrier-timeout", "1s");
    try (TestConsumer process = TestConsumer.start(lagging)) {
      AdmittedSale sale = new AdmittedSale(process, first, PurchasePolicy.LIMITED, 5, 100);
      sale.admit(1, 1);

      Answer refused = process.api().post("/internal/v1/skus/" + first + "/audit");
      process.bean(DailyAudit.class).round();

      assertThat(refused.status()).as(refused.text()).isEqualTo(503);
      assertThat(refused.code()).isEqualTo("UNAVAILABLE");
      assertThat(refused.text()).contains("The barrier has not passed in time");
      assertThat(process.number("SELECT COUNT(*) FROM daily_audit")).isZero();
      assertThat(process.gauge("seckill.consumer.audit.due")).isEqualTo(1);

      sale.setStock(70);
      process.bean(DailyAudit.class).round();
      assertThat(process.gauge("seckill.consumer.audit.differences")).isEqualTo(1);
    }
  }

  /** The second order ended after the provider had declined to charge it. */
  @Test
  void onlyMoneyThatWasTakenCountsAsRefunded() {
    sales.openStrong(first, "LIMITED", 5, 10);
    StoredOrderFixture orders = new StoredOrderFixture(consumer);
    for (String charge : List.of("'charge'", "NULL")) {
      OrderId id = orders.strong(first, 7, 1);
      consumer.update(
          "INSERT INTO payment (order_id, amount_cents, charge_id, state) VALUES (%s, 500, %s, 'REFUNDED')"
              .formatted(id.value(), charge));
    }

    awaitAudits(first);
    assertThat(table.of(DAY, first - 1, 1).get(0).refundedCents()).isEqualTo(500);
  }

  /** With the statements of docs/operations.md: no REPLACE removes a total without rows. */
  @Test
  void totalsThatAreCountedAgainAreThoseOfTheRows() throws IOException {
    sales.openStrong(first, "LIMITED", 5, 10);
    new StoredOrderFixture(consumer).strong(first, 7, 2);
    consumer.update("UPDATE order_total SET units = 1 WHERE sku_id = ?", first);
    consumer.update("INSERT INTO order_total VALUES (?, 'EXPIRED', 1, 1)", first);
    assertThat(audits.audit(first).differences())
        .containsExactly(
            "order_total says 1 orders, 1 units CONFIRMED; its rows are 1, 2",
            "order_total says 1 orders, 1 units EXPIRED; its rows are 0, 0");

    consumer.update("DELETE FROM order_total WHERE sku_id = ?", first);
    consumer.update(
        "INSERT INTO order_total SELECT * FROM ("
            + countsOfTheMigration()
            + ") counted WHERE sku_id = ?",
        first);

    assertThat(audits.audit(first).differences()).isEmpty();
  }

  private static String countsOfTheMigration() throws IOException {
    String script =
        new ClassPathResource("db/migration/V17__order_totals.sql")
            .getContentAsString(StandardCharsets.UTF_8);
    String counts = script.substring(script.indexOf("SELECT"));
    return counts.substring(0, counts.indexOf(';'));
  }

  /** Each repair is in the next audit, also one that is made the evening before. */
  @Test
  void countsTheRepairsSinceTheAuditBeforeWasDue() {
    sales.openStrong(first, "LIMITED", 5, 10);
    Map.of(
            "2031-05-04 02:59:59.999999", 1,
            "2031-05-04 03:00:00.000000", 10,
            "2031-05-04 20:00:00.000000", 100,
            "2031-05-05 03:00:00.000000", 1_000)
        .forEach(this::repaired);

    awaitAudits(first);

    assertThat(table.of(DAY, first - 1, 1).get(0).repairs()).isEqualTo(110);
  }

  private void repaired(String startedAt, int made) {
    consumer.update(
        "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch, findings,"
            + " made, started_at) VALUES (?, 'a', 0, 'REPAIRED', '', 1, 1000, ?, ?)",
        first,
        made,
        startedAt);
  }

  private List<Long> audited() {
    return table.of(DAY, first - 1, 10).stream()
        .map(SaleAudit::skuId)
        .filter(sku -> sku <= second)
        .toList();
  }

  /** The service that runs beside may be making audits of its own. */
  private void awaitAudits(Long... skus) {
    eventually()
        .until(
            () -> {
              audits.round();
              return audited();
            },
            List.of(skus)::equals);
  }

  private static RunLock lock(String name) {
    return eventually()
        .until(
            () -> RunLock.take(pools.reconciliation(), name, Duration.ofMinutes(1)),
            Optional::isPresent)
        .orElseThrow();
  }
}
