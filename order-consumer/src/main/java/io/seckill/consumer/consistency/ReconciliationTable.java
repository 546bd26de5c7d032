package io.seckill.consumer.consistency;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/** The tables {@code reconciliation} and {@code repair}. */
@Component
class ReconciliationTable {

  private static final int MOST_REPORTS = 20;

  /** More rows add no information; the number of findings is stored in full. */
  private static final int MOST_REPAIRS = 1_000;

  private static final int MAX_TEXT = 200;

  private final JdbcClient jdbc;
  private final TransactionOperations transactions;

  ReconciliationTable(JdbcClient jdbc, TransactionOperations transactions) {
    this.jdbc = jdbc;
    this.transactions = transactions;
  }

  /** Stores a report with its repairs; returns it with the id of its row. */
  Report keep(Report report, List<Repair> repairs) {
    Report kept = transactions.execute(tx -> insert(report, repairs));
    if (kept == null) {
      throw new IllegalStateException("a transaction without an answer");
    }
    return kept;
  }

  private Report insert(Report report, List<Repair> repairs) {
    KeyHolder key = new GeneratedKeyHolder();
    jdbc.sql(
            "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch,"
                + " findings, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .params(
            report.skuId(),
            report.startedBy(),
            report.dryRun(),
            report.outcome().name(),
            report.detail(),
            report.epoch(),
            repairs.size(),
            LocalDateTime.ofInstant(report.startedAt(), ZoneOffset.UTC).toString())
        .update(key, "id");
    Number id = key.getKey();
    if (id == null) {
      throw new IllegalStateException("a reconciliation without a number");
    }
    repairs.stream().limit(MOST_REPAIRS).forEach(repair -> insert(id.longValue(), repair));
    return report.withId(id.longValue());
  }

  private void insert(long reconciliation, Repair repair) {
    jdbc.sql(
            "INSERT INTO repair (reconciliation_id, kind, subject, found, wanted, made)"
                + " VALUES (?, ?, ?, ?, ?, ?)")
        .params(
            reconciliation,
            repair.kind().name(),
            repair.subject(),
            cut(repair.found()),
            cut(repair.wanted()),
            repair.made())
        .update();
  }

  private static String cut(String text) {
    return text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT);
  }

  /** The latest reports of a SKU, newest first. */
  List<Report> latest(long skuId) {
    return jdbc.sql(
            "SELECT * FROM reconciliation WHERE sku_id = ? ORDER BY id DESC LIMIT " + MOST_REPORTS)
        .param(skuId)
        .query((row, n) -> report(row))
        .list();
  }

  private Report report(ResultSet row) throws SQLException {
    long id = row.getLong("id");
    List<Repair> repairs = repairs(id);
    return new Report(
        id,
        row.getLong("sku_id"),
        row.getString("started_by"),
        row.getBoolean("dry_run"),
        Outcome.valueOf(row.getString("outcome").toUpperCase(Locale.ROOT)),
        row.getString("detail"),
        row.getLong("epoch"),
        Report.count(repairs),
        repairs.stream().limit(Report.MOST_SHOWN).toList(),
        time(row.getObject("started_at", LocalDateTime.class)),
        time(row.getObject("ended_at", LocalDateTime.class)));
  }

  private List<Repair> repairs(long reconciliation) {
    return jdbc.sql("SELECT * FROM repair WHERE reconciliation_id = ? ORDER BY id")
        .param(reconciliation)
        .query(
            (row, n) ->
                new Repair(
                    RepairKind.valueOf(row.getString("kind")),
                    row.getString("subject"),
                    row.getString("found"),
                    row.getString("wanted"),
                    row.getBoolean("made")))
        .list();
  }

  private static Instant time(@Nullable LocalDateTime time) {
    return time == null ? Instant.EPOCH : time.toInstant(ZoneOffset.UTC);
  }
}
