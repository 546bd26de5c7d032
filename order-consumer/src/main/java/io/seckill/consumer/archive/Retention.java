package io.seckill.consumer.archive;

import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.runtime.UtcColumn;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Deletes rows that are not needed any more, page by page; docs/operations.md has the table of
 * times, with the reasons. Two processes may do this at once.
 */
@Component
record Retention(JdbcClient jdbc, TransactionOperations transactions, Pace pace, Clock clock) {

  private static final int PAGE = 1_000;
  private static final String LIMIT = " LIMIT " + PAGE;

  /** By MySQL's clock and by that of this process: one that is far ahead deletes nothing. */
  private static final String BOTH_NOW = "LEAST(NOW(6), CAST(:now AS DATETIME(6)))";

  /** The oldest runs, whose repairs one query reads; the ids of runs rise with time. */
  private static final String OLDEST_RUNS =
      "(SELECT id, ended_at FROM reconciliation ORDER BY id LIMIT 100) r";

  /**
   * Rows with one reason to go.
   *
   * @param due selects the keys of a page; it reads nothing that stays, but for a page at most
   * @param delete for these keys
   */
  private record Rule(String due, String delete) {}

  private static final List<Rule> RULES =
      List.of(
          new Rule(
              "SELECT event_id FROM payment_event WHERE received_at < "
                  + BOTH_NOW
                  + " - INTERVAL 30 DAY"
                  + LIMIT,
              "DELETE FROM payment_event WHERE event_id IN (:keys)"),
          new Rule(
              "SELECT x.id FROM "
                  + OLDEST_RUNS
                  + " STRAIGHT_JOIN repair x ON x.reconciliation_id = r.id"
                  + " WHERE r.ended_at < "
                  + BOTH_NOW
                  + " - INTERVAL 90 DAY"
                  + LIMIT,
              "DELETE FROM repair WHERE id IN (:keys)"),
          new Rule(
              "SELECT r.id FROM "
                  + OLDEST_RUNS
                  + " WHERE r.ended_at < "
                  + BOTH_NOW
                  + " - INTERVAL 90 DAY AND NOT EXISTS"
                  + " (SELECT 1 FROM repair x WHERE x.reconciliation_id = r.id)"
                  + LIMIT,
              "DELETE FROM reconciliation WHERE id IN (:keys)"));

  /** A rebuild, and a search for lost orders, read the resolved dead letters of a sale in Redis. */
  private static final String LETTERS =
      "SELECT d.id, CAST(d.resolved_at AS CHAR) AS resolved, (p.sku_id IS NULL"
          + " OR p.closes_at < "
          + BOTH_NOW
          + " - INTERVAL p.retention_s SECOND) AS due"
          + " FROM dead_letter d FORCE INDEX (ix_dead_letter_resolved)"
          + " LEFT JOIN products p ON p.sku_id = d.sku_id WHERE d.state = :state"
          + " AND d.resolved_at < "
          + BOTH_NOW
          + " - INTERVAL 90 DAY AND d.resolved_at >= :resolved"
          + " AND (d.resolved_at > :resolved OR d.id > :id) ORDER BY d.resolved_at, d.id"
          + LIMIT;

  private static final List<String> DELETE_LETTERS =
      List.of(
          "DELETE FROM dead_letter_rest WHERE letter_id IN (:keys)",
          "DELETE FROM dead_letter WHERE id IN (:keys)");

  /**
   * A resolved dead letter, old enough.
   *
   * @param resolved when, in MySQL's format
   */
  private record Letter(long id, String resolved, boolean due) {

    static final Letter FIRST = new Letter(0, "1970-01-02 00:00:00", false);
  }

  private static final String OLD_AUDITS =
      "DELETE FROM daily_audit WHERE day < DATE("
          + BOTH_NOW
          + ") - INTERVAL 400 DAY ORDER BY day, sku_id"
          + LIMIT;

  private static final Duration PAUSE = Duration.ofMinutes(10);

  @Bean
  Sweeper retentionSweeper(SaleArchiver archiver, ArchiveProperties settings) {
    return new Sweeper(
        "retention",
        PAUSE,
        () -> {
          sweep();
          archiver.purge(settings.keep());
        });
  }

  void sweep() {
    for (Rule rule : RULES) {
      while (pace.step(() -> deletePage(rule)) > 0 && !Thread.currentThread().isInterrupted()) {}
    }
    List.of("REPLAYED", "DISCARDED").forEach(this::sweepLetters);
    while (pace.step(() -> jdbc.sql(OLD_AUDITS).param("now", now()).update()) > 0
        && !Thread.currentThread().isInterrupted()) {}
  }

  private String now() {
    return UtcColumn.text(clock.instant());
  }

  private int deletePage(Rule rule) {
    List<Object> keys = jdbc.sql(rule.due()).param("now", now()).query().singleColumn();
    delete(List.of(rule.delete()), keys);
    return keys.size();
  }

  private void delete(List<String> statements, List<?> keys) {
    if (!keys.isEmpty()) {
      transactions.executeWithoutResult(
          tx -> statements.forEach(statement -> jdbc.sql(statement).param("keys", keys).update()));
    }
  }

  /** Reads each letter that stays once. */
  private void sweepLetters(String state) {
    Letter last = Letter.FIRST;
    List<Letter> page;
    do {
      Letter after = last;
      page = pace.step(() -> deleteLetters(state, after));
      last = page.isEmpty() ? last : page.get(page.size() - 1);
    } while (page.size() == PAGE && !Thread.currentThread().isInterrupted());
  }

  /** Deletes the letters that are due in the page after this one, and returns the page. */
  private List<Letter> deleteLetters(String state, Letter after) {
    List<Letter> page =
        jdbc.sql(LETTERS)
            .param("now", now())
            .param("state", state)
            .param("resolved", after.resolved())
            .param("id", after.id())
            .query(Letter.class)
            .list();
    delete(DELETE_LETTERS, page.stream().filter(Letter::due).map(Letter::id).toList());
    return page;
  }
}
