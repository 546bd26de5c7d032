package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.seckill.consumer.testing.SaleInFlight;
import io.seckill.testing.TestServers;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;

/** Rows that are old enough are deleted, others are not. */
@ExtendWith(TestServers.class)
class RetentionIT extends FinishedSales {

  @Test
  void aHistoryThatCannotBeDeletedNowKeepsNoOtherWaiting() {
    ArchiveTable table =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
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

  /** A row that is kept for so many days; its age is a parameter of the statement. */
  private enum Kept {
    PAYMENT_EVENT(
        30,
        "INSERT INTO payment_event VALUES ('by both clocks', 1, NOW(6) - INTERVAL ? DAY)",
        "payment_event WHERE event_id = 'by both clocks'"),
    RUN(
        90,
        "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch, findings,"
            + " started_at, ended_at) VALUES (1, 'a', 0, 'FOUND', 'by both clocks', 1, 1, NOW(6),"
            + " NOW(6) - INTERVAL ? DAY)",
        "reconciliation WHERE detail = 'by both clocks'"),
    LETTER(
        90,
        "INSERT INTO dead_letter (sku_id, payload, payload_hash, reason, detail, attempts,"
            + " first_failed_at, last_failed_at, state, resolved_at) VALUES (1, '{}',"
            + " UNHEX(SHA2('by both clocks', 256)), '', 'by both clocks', 1, NOW(), NOW(),"
            + " 'DISCARDED', NOW(6) - INTERVAL ? DAY)",
        "dead_letter WHERE detail = 'by both clocks'"),
    AUDIT(
        400,
        "INSERT INTO daily_audit SELECT UTC_DATE() - INTERVAL ? DAY, 22, 'CLOSED', 0, 0, 0, 0, 0,"
            + " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', NOW(6)",
        "daily_audit WHERE sku_id = 22"),
    HISTORY(
        30,
        "INSERT INTO archive (sku_id, phase, started_by, started_at, stepped_at, done_at) VALUES"
            + " (22, 'DONE', 'a', NOW(6), NOW(6), NOW(6) - INTERVAL ? DAY)",
        "archive WHERE sku_id = 22 AND phase = 'DONE'");

    private final int days;
    private final String insert;
    private final String rows;

    Kept(int days, String insert, String rows) {
      this.days = days;
      this.insert = insert;
      this.rows = rows;
    }
  }

  /** MySQL's may be wrong, as after the promotion of a standby; nothing brings the rows back. */
  @ParameterizedTest
  @EnumSource
  void deletesWhatIsTooOldByBothClocks(Kept kept) {
    String count = "SELECT COUNT(*) FROM " + kept.rows;
    Clock behind = Clock.offset(Clock.systemUTC(), Duration.ofDays(-10));
    consumer.update(kept.insert, kept.days + 5);
    try {
      sweep(behind);
      assertThat(consumer.number(count)).isOne();

      sweep(Clock.systemUTC());
      assertThat(consumer.number(count)).isZero();
    } finally {
      consumer.update("DELETE FROM archive WHERE sku_id = 22");
    }
  }

  /** Order-consumer itself keeps histories for ten years, and sweeps every ten minutes. */
  private static void sweep(Clock clock) {
    Retention real = consumer.bean(Retention.class);
    new Retention(real.jdbc(), real.transactions(), real.pace(), clock).sweep();
    archiver(new ArchiveTable(consumer.sql(), clock)).purge(Duration.ofDays(30));
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

  private static Set<String> texts(String query) {
    return Set.copyOf(consumer.sql().sql(query).query(String.class).list());
  }
}
