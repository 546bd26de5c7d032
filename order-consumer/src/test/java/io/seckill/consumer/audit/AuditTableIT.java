package io.seckill.consumer.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which sales are due for the audit of a day, and what its table keeps. */
@ExtendWith(TestServers.class)
class AuditTableIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(31_001);

  /** No other test has audits of this day. */
  private static final LocalDate DAY = LocalDate.of(2031, 3, 2);

  private static final Instant DUE = Instant.parse("2031-03-02T03:00:00Z");

  private static final TestConsumer consumer = TestConsumer.shared();

  private final AuditTable table = new AuditTable(consumer.sql());
  private final long sku = NEXT_SKU.getAndIncrement();

  @AfterEach
  void delete() {
    consumer.update("DELETE FROM products WHERE sku_id = ?", sku);
    consumer.update("DELETE FROM archive WHERE sku_id = ?", sku);
  }

  @ParameterizedTest
  @CsvSource({
    "OPEN,      2031-03-02 03:00:00.000, 2031-04-01 00:00:00.000, true",
    "OPEN,      2031-03-02 03:00:00.001, 2031-04-01 00:00:00.000, false",
    "CLOSED,    2031-01-01 00:00:00.000, 2031-02-23 03:00:00.001, true",
    "CLOSED,    2031-01-01 00:00:00.000, 2031-02-23 03:00:00.000, false",
    "PREHEATED, 2031-01-01 00:00:00.000, 2031-04-01 00:00:00.000, true",
    "PAUSED,    2031-01-01 00:00:00.000, 2031-04-01 00:00:00.000, true",
    "NEW,       2031-01-01 00:00:00.000, 2031-04-01 00:00:00.000, false"
  })
  void aSaleIsDueFromItsOpeningUntilSevenDaysAfterItsClosing(
      String state, String opensAt, String closesAt, boolean isDue) {
    sale(state, opensAt, closesAt);

    assertThat(table.due(DUE).contains(sku)).isEqualTo(isDue);
    assertThat(table.standing(DUE).due()).isEqualTo(table.due(DUE).size());
  }

  @Test
  void oneAuditADayIsEnoughAndAShardIsAuditedWithItsSku() {
    sale("OPEN", "2031-01-01 00:00:00", "2031-04-01 00:00:00");
    long shard = Shards.id(sku, 1);
    consumer.update(
        "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
            + " limit_per_user, opens_at, closes_at, state) SELECT ?, name, price_cents, stock,"
            + " initial_stock, policy, limit_per_user, opens_at, closes_at, state FROM products"
            + " WHERE sku_id = ?",
        shard,
        sku);

    table.keep(audit(DAY.minusDays(1), sku, null));
    assertThat(table.due(DUE)).contains(sku).doesNotContain(shard);

    table.keep(audit(DAY, sku, null));
    assertThat(table.due(DUE)).doesNotContain(sku, shard);
    consumer.update("DELETE FROM products WHERE sku_id = ?", shard);
  }

  @ParameterizedTest
  @CsvSource({
    "ORDERS,, true",
    "DONE,   2031-03-01 03:00:01.000003, true",
    "DONE,   2031-03-01 03:00:01.000001, false",
    "PURGED, 2031-03-01 03:00:01.000003, false"
  })
  void anArchivedSaleIsDueUntilItWasAuditedWithItsHistory(
      String phase, @Nullable String doneAt, boolean isDue) {
    sale("CLOSED", "2031-01-01 00:00:00", "2031-04-01 00:00:00");
    consumer.update(
        "INSERT INTO archive (sku_id, phase, started_by, started_at, stepped_at, done_at)"
            + " VALUES (?, ?, 'a', NOW(6), NOW(6), ?)",
        sku,
        phase,
        doneAt);
    table.keep(audit(DAY.minusDays(1), sku, null, Instant.parse("2031-03-01T03:00:01.000002Z")));

    assertThat(table.due(DUE).contains(sku)).isEqualTo(isDue);
    assertThat(table.standing(DUE).due()).isEqualTo(table.due(DUE).size());
  }

  @Test
  void keepsEveryFigureAndOfARepeatTheLatest() {
    LocalDate day = DAY.plusDays(sku);
    Instant due = Instant.parse(day + "T03:00:00Z");
    SaleAudit shard = audit(day, Shards.id(sku, 2), null);
    SaleAudit audit = audit(day, sku, List.of(shard));

    table.keep(audit);
    assertThat(table.of(day, sku - 1, 10)).containsExactly(audit);
    assertThat(table.of(day, sku, 10)).isEmpty();
    assertThat(table.of(day.plusDays(1), sku - 1, 10)).isEmpty();
    assertThat(table.standing(due).differences()).as("without the shards'").isEqualTo(2);

    table.keep(audit);
    assertThat(table.of(day, sku - 1, 10)).containsExactly(audit);
    assertThat(table.standing(due).differences()).isEqualTo(2);
  }

  /** The round and an operator may audit a sale at the same time. */
  @Test
  void anAuditReplacesNoneThatBeganAfterIt() {
    LocalDate day = DAY.plusDays(sku);
    long shard = Shards.id(sku, 2);
    SaleAudit first = large(day, sku, List.of(large(day, shard, null)));
    Instant afterwards = first.madeAt().plusNanos(1_000);
    SaleAudit second = audit(day, sku, List.of(audit(day, shard, null, afterwards)), afterwards);

    table.keep(first);
    table.keep(second);
    assertThat(table.of(day, sku - 1, 10)).containsExactly(second);

    table.keep(first);
    assertThat(table.of(day, sku - 1, 10)).containsExactly(second);
  }

  /** A gateway takes no answer above 4 MiB, and the file of a day has all its pages. */
  @Test
  void aPageOfAuditsWithShardsAndManyDifferencesFitsIntoAnAnswer() {
    LocalDate day = DAY.plusDays(sku);
    List<SaleAudit> shards =
        IntStream.range(0, Shards.MOST).mapToObj(n -> large(day, Shards.id(sku, n), null)).toList();
    table.keep(large(day, sku, shards));

    String page =
        consumer
            .api()
            .get("/internal/v1/audits?day=%s&limit=1&after=%d".formatted(day, sku - 1))
            .text();

    assertThat(page).contains("\"skuId\":" + Shards.id(sku, Shards.MOST - 1));
    assertThat(page.length()).isLessThan(4 * 1024 * 1024 / AuditController.MAX_LIMIT);
  }

  /** The beginning of a number would name another order. */
  @Test
  void keepsWholeDifferencesAndTheNumberOfOthers() {
    LocalDate day = DAY.plusDays(sku);
    table.keep(large(day, sku, null));

    List<String> kept = table.of(day, sku - 1, 1).get(0).differences();

    assertThat(kept.subList(0, kept.size() - 1)).containsOnly("one of many differences");
    assertThat(kept).endsWith("and %d more, in order-consumer's log".formatted(101 - kept.size()));
  }

  private static SaleAudit large(LocalDate day, long sku, @Nullable List<SaleAudit> shards) {
    OrderTotals many = new OrderTotals(Long.MAX_VALUE, Long.MAX_VALUE);
    return new SaleAudit(
        day,
        sku,
        "PREHEATED",
        Long.MAX_VALUE,
        Long.MAX_VALUE,
        many,
        many,
        many,
        many,
        many,
        Long.MAX_VALUE,
        Long.MAX_VALUE,
        Long.MAX_VALUE,
        Long.MAX_VALUE,
        Collections.nCopies(100, "one of many differences"),
        Instant.parse("2031-03-02T03:00:01.000002Z"),
        shards);
  }

  @Test
  void countsTheRepairsThatWereMadeInTheDayBefore() {
    reconciled(sku, "2031-03-01 02:59:59.999999", 1);
    reconciled(sku, "2031-03-01 03:00:00.000000", 10);
    reconciled(sku, "2031-03-02 02:59:59.999999", 100);
    reconciled(sku, "2031-03-02 03:00:00.000000", 1_000);
    reconciled(sku + 1_000_000, "2031-03-01 12:00:00.000000", 10_000);

    assertThat(table.repairs(sku, DUE)).isEqualTo(110);
    assertThat(table.repairs(sku, DUE.plus(Duration.ofDays(5)))).isZero();
  }

  private static void reconciled(long sku, String startedAt, int made) {
    consumer.update(
        "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch, findings,"
            + " made, started_at, ended_at) VALUES (?, 'a', 0, 'REPAIRED', '', 1, 20000, ?, ?, ?)",
        sku,
        made,
        startedAt,
        startedAt);
  }

  private void sale(String state, String opensAt, String closesAt) {
    consumer.api().put("/internal/v1/skus/" + sku, Sales.product("LIMITED", 5, 10));
    consumer.update(
        "UPDATE products SET state = ?, opens_at = ?, closes_at = ? WHERE sku_id = ?",
        state,
        opensAt,
        closesAt,
        sku);
  }

  private static SaleAudit audit(LocalDate day, long sku, @Nullable List<SaleAudit> shards) {
    return audit(day, sku, shards, Instant.parse("2031-03-02T03:00:01.000002Z"));
  }

  private static SaleAudit audit(
      LocalDate day, long sku, @Nullable List<SaleAudit> shards, Instant madeAt) {
    return new SaleAudit(
        day,
        sku,
        "PAUSED",
        1,
        2,
        new OrderTotals(3, 4),
        new OrderTotals(5, 6),
        new OrderTotals(7, 8),
        new OrderTotals(9, 10),
        new OrderTotals(11, 12),
        13,
        14,
        15,
        16,
        List.of("one difference", "and another"),
        madeAt,
        shards);
  }
}
