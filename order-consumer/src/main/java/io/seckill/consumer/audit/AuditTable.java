package io.seckill.consumer.audit;

import io.seckill.common.sale.Shards;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.runtime.DetailColumn;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code daily_audit}, and the sales that are due for it. */
@Component
class AuditTable {

  /** A sale is audited until this long after its closing time. */
  private static final int DAYS_AFTER_CLOSING = 7;

  /** SQL: of the audits of a day those of SKUs, which have the sums of their shards'. */
  private static final String OF_SKUS = " WHERE day = DATE(:day) AND sku_id < " + Shards.FIRST_ID;

  /** An archived sale does not change any more: it is audited once, unless its history is gone. */
  private static final String DUE =
      " FROM products p WHERE p.state <> 'NEW' AND p.sku_id < "
          + Shards.FIRST_ID
          + " AND p.opens_at <= :due"
          + " AND p.closes_at > :due - INTERVAL "
          + DAYS_AFTER_CLOSING
          + " DAY AND NOT EXISTS (SELECT 1 FROM daily_audit a"
          + " WHERE a.day = DATE(:due) AND a.sku_id = p.sku_id)"
          + " AND NOT EXISTS (SELECT 1 FROM archive r WHERE r.sku_id = p.sku_id"
          + " AND (r.phase = 'PURGED' OR EXISTS (SELECT 1 FROM daily_audit b"
          + " WHERE b.sku_id = r.sku_id AND b.made_at > r.done_at)))";

  /** Replaces none that began later: an operator may audit a sale while the round counts it. */
  private static final String KEEP =
      "INSERT INTO daily_audit VALUES"
          + " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
          + " ON DUPLICATE KEY UPDATE "
          + Stream.of(
                  "state",
                  "units",
                  "stock",
                  "confirmed_orders",
                  "confirmed_units",
                  "paid_orders",
                  "paid_units",
                  "cancelled_orders",
                  "cancelled_units",
                  "expired_orders",
                  "expired_units",
                  "rejected_orders",
                  "rejected_units",
                  "charged_cents",
                  "refunded_cents",
                  "refunds_due",
                  "repairs",
                  "differences",
                  "detail",
                  "made_at") // last, for the columns before are compared with it
              .map(
                  each ->
                      "%s = IF(VALUES(made_at) < made_at, %s, VALUES(%s))"
                          .formatted(each, each, each))
              .collect(Collectors.joining(", "));

  private final JdbcClient jdbc;

  AuditTable(JdbcClient jdbc) {
    this.jdbc = jdbc;
  }

  /** MySQL's clock, which all processes share. */
  Instant now() {
    return UtcColumn.now(jdbc);
  }

  /** Sales without an audit of the day that began with this time. */
  List<Long> due(Instant due) {
    return jdbc.sql("SELECT p.sku_id" + DUE + " ORDER BY p.sku_id")
        .param("due", UtcColumn.text(due))
        .query(Long.class)
        .list();
  }

  /** How many sales are due, and how many differences the audits of that day have found. */
  record Standing(long due, long differences) {}

  Standing standing(Instant due) {
    return new Standing(
        jdbc.sql("SELECT COUNT(*)" + DUE)
            .param("due", UtcColumn.text(due))
            .query(Long.class)
            .single(),
        jdbc.sql("SELECT COALESCE(SUM(differences), 0) FROM daily_audit" + OF_SKUS)
            .param("day", UtcColumn.text(due))
            .query(Long.class)
            .single());
  }

  /** Repairs of a sale's data in Redis made in the day before this time. */
  long repairs(long sku, Instant due) {
    return jdbc.sql(
            "SELECT COALESCE(SUM(made), 0) FROM reconciliation WHERE sku_id = ?"
                + " AND started_at >= ? - INTERVAL 1 DAY AND started_at < ?")
        .params(sku, UtcColumn.text(due), UtcColumn.text(due))
        .query(Long.class)
        .single();
  }

  /** Replaces the audit of the same sale and day, with those of its shards, if it is not later. */
  void keep(SaleAudit audit) {
    if (audit.shards() != null) {
      audit.shards().forEach(this::keep);
    }
    jdbc.sql(KEEP)
        .params(
            audit.day().toString(),
            audit.skuId(),
            audit.state(),
            audit.units(),
            audit.stock(),
            audit.confirmed().orders(),
            audit.confirmed().units(),
            audit.paid().orders(),
            audit.paid().units(),
            audit.cancelled().orders(),
            audit.cancelled().units(),
            audit.expired().orders(),
            audit.expired().units(),
            audit.rejected().orders(),
            audit.rejected().units(),
            audit.chargedCents(),
            audit.refundedCents(),
            audit.refundsDue(),
            audit.repairs(),
            audit.differences().size(),
            DetailColumn.text(audit.differences()),
            UtcColumn.text(audit.madeAt()))
        .update();
  }

  List<SaleAudit> of(LocalDate day, long afterSku, int limit) {
    Map<Long, List<SaleAudit>> shards =
        afterSku >= Shards.LARGEST_SKU ? Map.of() : shards(day, afterSku + 1, limit);
    return jdbc.sql(
            "SELECT * FROM daily_audit"
                + OF_SKUS
                + " AND sku_id > :after ORDER BY sku_id LIMIT :limit")
        .param("day", day.toString())
        .param("after", afterSku)
        .param("limit", limit)
        .query((row, number) -> read(row, shards.get(row.getLong("sku_id"))))
        .list();
  }

  /**
   * Audits of the shards of this number of SKUs, and more if some have few.
   *
   * @return by SKU, in the order of their numbers
   */
  private Map<Long, List<SaleAudit>> shards(LocalDate day, long fromSku, int skus) {
    return jdbc
        .sql("SELECT * FROM daily_audit WHERE day = ? AND sku_id >= ? ORDER BY sku_id LIMIT ?")
        .params(day.toString(), Shards.FIRST_ID + fromSku * Shards.MOST, skus * Shards.MOST)
        .query((row, number) -> read(row, null))
        .list()
        .stream()
        .sorted(Comparator.comparingInt(audit -> Shards.shard(audit.skuId())))
        .collect(Collectors.groupingBy(audit -> Shards.sku(audit.skuId())));
  }

  private static SaleAudit read(ResultSet row, @Nullable List<SaleAudit> shards)
      throws SQLException {
    String detail = row.getString("detail");
    return new SaleAudit(
        row.getObject("day", LocalDate.class),
        row.getLong("sku_id"),
        row.getString("state"),
        row.getLong("units"),
        row.getLong("stock"),
        totals(row, "confirmed"),
        totals(row, "paid"),
        totals(row, "cancelled"),
        totals(row, "expired"),
        totals(row, "rejected"),
        row.getLong("charged_cents"),
        row.getLong("refunded_cents"),
        row.getLong("refunds_due"),
        row.getLong("repairs"),
        detail.isEmpty() ? List.of() : List.of(detail.split("\n")),
        UtcColumn.instant(row, "made_at"),
        shards);
  }

  private static OrderTotals totals(ResultSet row, String state) throws SQLException {
    return new OrderTotals(row.getLong(state + "_orders"), row.getLong(state + "_units"));
  }
}
