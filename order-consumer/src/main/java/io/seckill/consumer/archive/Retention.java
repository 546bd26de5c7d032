package io.seckill.consumer.archive;

import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.Sweeper;
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
record Retention(JdbcClient jdbc, TransactionOperations transactions, Pace pace) {

  private static final int PAGE = 1_000;
  private static final String LIMIT = " LIMIT " + PAGE;

  /** The oldest runs, whose repairs one query reads; the ids of runs rise with time. */
  private static final String OLDEST_RUNS =
      "(SELECT id, ended_at FROM reconciliation ORDER BY id LIMIT 100) r";

  /**
   * Rows with one reason to go.
   *
   * @param due selects the keys of a page; it reads nothing that stays, but for a page at most
   * @param deletes for these keys, in their order
   */
  private record Rule(String due, List<String> deletes) {

    Rule(String due, String... deletes) {
      this(due, List.of(deletes));
    }
  }

  private static final List<Rule> RULES =
      List.of(
          new Rule(
              "SELECT event_id FROM payment_event WHERE received_at < NOW(6) - INTERVAL 30 DAY"
                  + LIMIT,
              "DELETE FROM payment_event WHERE event_id IN (:keys)"),
          new Rule(
              "SELECT x.id FROM "
                  + OLDEST_RUNS
                  + " STRAIGHT_JOIN repair x ON x.reconciliation_id = r.id"
                  + " WHERE r.ended_at < NOW(6) - INTERVAL 90 DAY"
                  + LIMIT,
              "DELETE FROM repair WHERE id IN (:keys)"),
          new Rule(
              "SELECT r.id FROM "
                  + OLDEST_RUNS
                  + " WHERE r.ended_at < NOW(6) - INTERVAL 90 DAY AND NOT EXISTS"
                  + " (SELECT 1 FROM repair x WHERE x.reconciliation_id = r.id)"
                  + LIMIT,
              "DELETE FROM reconciliation WHERE id IN (:keys)"),
          // A rebuild, and a search for lost orders, read the resolved dead letters of a sale in
          // Redis.
          new Rule(
              "SELECT d.id FROM dead_letter d FORCE INDEX (ix_dead_letter_resolved)"
                  + " LEFT JOIN products p ON p.sku_id = d.sku_id"
                  + " WHERE d.state IN ('REPLAYED', 'DISCARDED')"
                  + " AND d.resolved_at < NOW(6) - INTERVAL 90 DAY AND (p.sku_id IS NULL"
                  + " OR p.closes_at < UTC_TIMESTAMP() - INTERVAL p.retention_s SECOND)"
                  + LIMIT,
              "DELETE FROM dead_letter_rest WHERE letter_id IN (:keys)",
              "DELETE FROM dead_letter WHERE id IN (:keys)"));

  private static final String OLD_AUDITS =
      "DELETE FROM daily_audit WHERE day < UTC_DATE() - INTERVAL 400 DAY"
          + " ORDER BY day, sku_id"
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
    while (pace.step(() -> jdbc.sql(OLD_AUDITS).update()) > 0
        && !Thread.currentThread().isInterrupted()) {}
  }

  private int deletePage(Rule rule) {
    List<Object> keys = jdbc.sql(rule.due()).query().singleColumn();
    if (!keys.isEmpty()) {
      transactions.executeWithoutResult(
          tx ->
              rule.deletes()
                  .forEach(statement -> jdbc.sql(statement).param("keys", keys).update()));
    }
    return keys.size();
  }
}
