package io.seckill.consumer.archive;

import static java.util.stream.Collectors.toSet;

import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The table {@code archive}, and the sales that are due for it. Nothing brings back what is
 * archived or deleted: its time must have come by the clocks of MySQL and of this process.
 */
@Component
class ArchiveTable {

  /** Archives read at once, whose histories are then deleted. */
  private static final int PURGED_AT_ONCE = 1_000;

  /**
   * A sale that is due, and when it closed.
   *
   * @param skuId 0 before the first
   */
  record DueSale(long skuId, Instant closesAt) {

    static final DueSale FIRST = new DueSale(0, Instant.EPOCH);
  }

  private final JdbcClient jdbc;
  private final Clock clock;

  ArchiveTable(JdbcClient jdbc, Clock clock) {
    this.jdbc = jdbc;
    this.clock = clock;
  }

  Optional<SaleArchive> find(long sku) {
    return find(sku, "");
  }

  /**
   * Locks the row until the caller's transaction ends: no other process moves this sale meanwhile.
   */
  Optional<SaleArchive> lock(long sku) {
    return find(sku, " FOR UPDATE");
  }

  private Optional<SaleArchive> find(long sku, String lock) {
    return jdbc.sql("SELECT * FROM archive WHERE sku_id = ?" + lock)
        .param(sku)
        .query((row, number) -> read(row))
        .optional();
  }

  /**
   * Makes a closed strong sale of it, in the caller's transaction, which has locked the product:
   * purchases are refused as CLOSED, and no message of it is stored.
   *
   * @param decided all orders of the sale, which are all that a strong sale has settled
   */
  void begin(long sku, ArchivePhase phase, long decided, String startedBy) {
    jdbc.sql(
            "UPDATE products SET archived = TRUE, decides = 'MYSQL', settled = ?,"
                + " state_version = state_version + 1 WHERE sku_id = ?")
        .params(decided, sku)
        .update();
    jdbc.sql(
            "INSERT INTO archive (sku_id, phase, started_by, started_at, stepped_at)"
                + " VALUES (?, ?, ?, NOW(6), NOW(6))")
        .params(sku, phase.name(), startedBy)
        .update();
  }

  /**
   * Archives that are not DONE, in the order of SKUs. That of a SKU comes after those of its
   * shards: an audit after its end is the last one, and its history is the last to be deleted.
   */
  List<Long> unfinished() {
    List<Long> ids =
        jdbc.sql(
                "SELECT sku_id FROM archive WHERE phase IN ('REDIS', 'ORDERS', 'REST')"
                    + " ORDER BY sku_id")
            .query(Long.class)
            .list();
    Set<Long> behind = ids.stream().filter(Shards::isShard).map(Shards::sku).collect(toSet());
    return ids.stream().filter(id -> !behind.contains(id)).toList();
  }

  /** Archives that were DONE this long ago, and whose history is not deleted yet. */
  List<Long> doneBefore(Duration keep) {
    return jdbc.sql(
            "SELECT sku_id FROM archive WHERE phase = 'DONE'"
                + " AND done_at < LEAST(NOW(6), CAST(? AS DATETIME(6))) - INTERVAL ? SECOND"
                + " ORDER BY done_at LIMIT "
                + PURGED_AT_ONCE)
        .params(UtcColumn.text(clock.instant()), keep.toSeconds())
        .query(Long.class)
        .list();
  }

  /** Whether the archive has been in its first phase for this time, or is in a later one. */
  boolean isOlderThan(long sku, Duration age) {
    return jdbc.sql(
                "SELECT COUNT(*) FROM archive WHERE sku_id = ?"
                    + " AND started_at <= NOW(6) - INTERVAL ? MICROSECOND")
            .params(sku, age.toNanos() / 1_000)
            .query(Long.class)
            .single()
        == 1;
  }

  /**
   * A page of SKUs that were once preheated and whose closing time was this long ago. A shard is
   * archived with its SKU.
   *
   * @param last of the page before
   */
  List<DueSale> due(Duration after, DueSale last, int limit) {
    return jdbc.sql(
            "SELECT sku_id, closes_at FROM products"
                + " FORCE INDEX (ix_products_archive) WHERE archived = FALSE"
                + " AND closes_at >= :closed"
                + " AND closes_at < LEAST(UTC_TIMESTAMP(), CAST(:now AS DATETIME(6)))"
                + " - INTERVAL :after SECOND"
                + " AND (closes_at > :closed OR sku_id > :sku)"
                + " AND state <> 'NEW' AND sku_id < "
                + Shards.FIRST_ID
                + " ORDER BY closes_at, sku_id LIMIT :limit")
        .param("closed", UtcColumn.text(last.closesAt()))
        .param("now", UtcColumn.text(clock.instant()))
        .param("after", after.toSeconds())
        .param("sku", last.skuId())
        .param("limit", limit)
        .query(
            (row, number) ->
                new DueSale(row.getLong("sku_id"), UtcColumn.instant(row, "closes_at")))
        .list();
  }

  /** Notes a step, which has moved this number of orders. */
  void moved(long sku, int orders) {
    jdbc.sql("UPDATE archive SET orders = orders + ?, stepped_at = NOW(6) WHERE sku_id = ?")
        .params(orders, sku)
        .update();
  }

  /** Ends a phase; does nothing when another process has. */
  void end(long sku, ArchivePhase phase) {
    jdbc.sql(
            "UPDATE archive SET phase = :next, stepped_at = NOW(6),"
                + " done_at = IF(:next = 'DONE', NOW(6), done_at) WHERE sku_id = :sku AND phase = :phase")
        .param("next", phase.next().name())
        .param("sku", sku)
        .param("phase", phase.name())
        .update();
  }

  private static SaleArchive read(ResultSet row) throws SQLException {
    return new SaleArchive(
        row.getLong("sku_id"),
        ArchivePhase.valueOf(row.getString("phase")),
        row.getString("started_by"),
        UtcColumn.instant(row, "started_at"),
        row.getLong("orders"),
        UtcColumn.instantOrNull(row, "done_at"));
  }
}
