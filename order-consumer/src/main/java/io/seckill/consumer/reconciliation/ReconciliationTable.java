package io.seckill.consumer.reconciliation;

import static java.util.Objects.requireNonNull;

import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/** The tables {@code reconciliation} and {@code repair}. */
@Component
record ReconciliationTable(JdbcClient jdbc, TransactionOperations transactions) {

  private static final int MOST_REPORTS = 20;

  /**
   * More rows add no information; the numbers of findings and repairs are stored in full. An
   * operator looks at each finding that is only reported, but needs it once: the schedule finds it
   * in every run.
   */
  private static final int MOST_REPAIRS = 1_000;

  private static final int MAX_TEXT = 200;

  /** An operator reads the list of a dry run; another run may be a routine repair. */
  private static final String DRY_RUNS =
      "SELECT r.id, x.subject FROM reconciliation r FORCE INDEX (ix_reconciliation_sku)"
          + " LEFT JOIN repair x ON x.reconciliation_id = r.id AND x.kind = 'ORDER_NOT_IN_MYSQL'"
          + " WHERE r.sku_id = ? AND r.epoch = ? AND r.dry_run AND r.started_by NOT IN ('"
          + Schedule.NAME
          + "', '"
          + Reconciler.FALLBACK
          + "')";

  /** Stores a report with its repairs; returns it with the id of its row. */
  Report keep(Report report, RepairLog repairs) {
    return transactions.execute(tx -> insert(report, repairs));
  }

  private Report insert(Report report, RepairLog repairs) {
    KeyHolder key = new GeneratedKeyHolder();
    jdbc.sql(
            "INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch,"
                + " findings, made, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .params(
            report.skuId(),
            report.startedBy(),
            report.dryRun(),
            report.outcome().name(),
            report.detail(),
            report.epoch(),
            repairs.size(),
            repairs.sizeMade(),
            UtcColumn.text(report.startedAt()))
        .update(key, "id");
    long id = requireNonNull(key.getKey()).longValue();
    int most =
        report.startedBy().equals(Schedule.NAME)
            ? MOST_REPAIRS
            : Math.max(MOST_REPAIRS, repairs.reported());
    repairs.first(most).forEach(repair -> insert(id, repair));
    return report.withId(id);
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

  /** The latest reports of all these SKUs, newest first. */
  List<Report> latest(List<Long> skuIds) {
    List<Report> latest =
        skuIds.stream()
            .flatMap(sku -> withoutRepairs(sku).stream())
            .sorted(Comparator.comparing(Report::startedAt).reversed())
            .limit(MOST_REPORTS)
            .toList();
    List<Long> ids = latest.stream().map(ReconciliationTable::idOf).toList();
    Map<Long, Map<RepairKind, Integer>> counts = counts(ids);
    return latest.stream()
        .map(
            report -> {
              long id = idOf(report);
              return report.withRepairs(counts.getOrDefault(id, Map.of()), firstRepairs(id));
            })
        .toList();
  }

  private static long idOf(Report stored) {
    return requireNonNull(stored.id());
  }

  private List<Report> withoutRepairs(long skuId) {
    return jdbc.sql(
            "SELECT * FROM reconciliation WHERE sku_id = ? ORDER BY id DESC LIMIT " + MOST_REPORTS)
        .param(skuId)
        .query((row, number) -> report(row))
        .list();
  }

  /**
   * The dry runs of operators in an epoch, with the ids of the orders that each has listed as
   * missing in MySQL.
   */
  Collection<Set<String>> dryRuns(long skuId, long epoch) {
    Map<Long, Set<String>> dryRuns = new HashMap<>();
    jdbc.sql(DRY_RUNS)
        .params(skuId, epoch)
        .query(
            row -> {
              Set<String> orders = dryRuns.computeIfAbsent(row.getLong(1), id -> new HashSet<>());
              String order = row.getString(2);
              if (order != null) { // the dry run has listed some
                orders.add(order);
              }
            });
    return dryRuns.values();
  }

  private static Report report(ResultSet row) throws SQLException {
    return new Report(
        row.getLong("id"),
        row.getLong("sku_id"),
        row.getString("started_by"),
        row.getBoolean("dry_run"),
        RunOutcome.valueOf(row.getString("outcome")),
        row.getString("detail"),
        row.getLong("epoch"),
        Map.of(),
        List.of(),
        UtcColumn.instant(row, "started_at"),
        UtcColumn.instant(row, "ended_at"),
        null);
  }

  private Map<Long, Map<RepairKind, Integer>> counts(List<Long> reconciliations) {
    Map<Long, Map<RepairKind, Integer>> counts = new HashMap<>();
    if (!reconciliations.isEmpty()) { // IN () is not SQL
      jdbc.sql(
              "SELECT reconciliation_id, kind, COUNT(*) FROM repair"
                  + " WHERE reconciliation_id IN (:ids) GROUP BY reconciliation_id, kind")
          .param("ids", reconciliations)
          .query(
              row -> {
                counts
                    .computeIfAbsent(row.getLong(1), id -> new TreeMap<>())
                    .put(RepairKind.valueOf(row.getString(2)), row.getInt(3));
              });
    }
    return counts;
  }

  private List<Repair> firstRepairs(long reconciliation) {
    return jdbc.sql(
            "SELECT kind, subject, found, wanted, made FROM repair"
                + " WHERE reconciliation_id = ? ORDER BY id LIMIT "
                + Report.MOST_SHOWN)
        .param(reconciliation)
        .query(Repair.class)
        .list();
  }
}
