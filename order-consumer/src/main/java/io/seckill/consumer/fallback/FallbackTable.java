package io.seckill.consumer.fallback;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.UtcColumn;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code fallback}, which has one row. Times are MySQL's. */
@Component
public class FallbackTable {

  static final String COLUMNS =
      "f.state, f.term, f.started_by, f.entered_at, f.changed_at, f.failure_percent,"
          + " f.failures_per_second";

  private static final String READ = "SELECT " + COLUMNS + " FROM fallback f WHERE f.id = 1";

  /** MariaDB has no FOR SHARE. */
  private static final String SHARE = "SELECT state FROM fallback WHERE id = 1 LOCK IN SHARE MODE";

  /** MySQL assigns from left to right. MariaDB has no FROM_UNIXTIME of a time after 2038. */
  private static final String ENTER =
      """
      UPDATE fallback SET entered_at = IF(state = 'REDIS', FROM_UNIXTIME(LEAST(
      UNIX_TIMESTAMP(NOW(6)),
      GREATEST(?, (SELECT b.next_ms FROM order_id_block b WHERE b.id = 1)) / 1000)),
      entered_at),
      state = 'ENTERING', changed_at = NOW(6), started_by = ?,
      term = GREATEST(term, (SELECT COALESCE(MAX(g.term), 0) FROM gateway_node g)) + 1 WHERE id = 1
      """;

  /** A process whose clock is behind would make ids from before that time. */
  private static final String LATER_IDS =
      "UPDATE order_id_block SET next_ms = GREATEST(next_ms,"
          + " (SELECT CEIL(UNIX_TIMESTAMP(entered_at) * 1000) FROM fallback WHERE id = 1))"
          + " WHERE id = 1";

  private final JdbcClient jdbc;
  private final Clock clock;

  FallbackTable(FallbackDatabase mysql, Clock clock) {
    this.clock = clock;
    this.jdbc = mysql.jdbc();
  }

  /**
   * The row.
   *
   * @param term raised whenever a fallback begins, and to the highest that a gateway has seen
   * @param startedBy an operator or {@link FallbackControl#AUTOMATIC}; null before the first
   * @param enteredAt no later than when Redis last ceased to decide, and than the time in each id
   *     that MySQL's orders have had since; terms may have begun since
   */
  record Row(
      SalePhase state,
      long term,
      @Nullable String startedBy,
      @JsonIgnore Instant enteredAt,
      Instant changedAt,
      int failurePercent,
      int failuresPerSecond) {

    static Row of(ResultSet row) throws SQLException {
      return new Row(
          SalePhase.valueOf(row.getString("state")),
          row.getLong("term"),
          row.getString("started_by"),
          UtcColumn.instant(row, "entered_at"),
          UtcColumn.instant(row, "changed_at"),
          row.getInt("failure_percent"),
          row.getInt("failures_per_second"));
    }

    boolean isIn(SalePhase wanted) {
      return state == wanted;
    }
  }

  Row read() {
    return jdbc.sql(READ).query((row, number) -> Row.of(row)).single();
  }

  /**
   * Whether Redis may get a further sale: the next fallback would take it, and none can begin
   * before the caller's transaction ends. Call it before the transaction locks products: a
   * beginning fallback locks this row, and then them.
   */
  public static boolean redisTakesSales(JdbcClient jdbc) {
    return SalePhase.valueOf(jdbc.sql(SHARE).query(String.class).single()).isWrittenToRedis();
  }

  /** Locks the row until the transaction ends: one process at a time changes the state. */
  Row lock() {
    return jdbc.sql(READ + " FOR UPDATE").query((row, number) -> Row.of(row)).single();
  }

  /** Changes the state of the row, which the caller has locked. */
  void move(SalePhase to) {
    jdbc.sql("UPDATE fallback SET state = ?, changed_at = NOW(6) WHERE id = 1")
        .param(to.name())
        .update();
  }

  /**
   * Begins a fallback, or begins it again while sales return, or for sales that were extended while
   * MySQL decides, under another term, which is above every term that a gateway has seen, in case
   * MySQL was restored from a backup. The caller has locked the row. Returns the term.
   */
  long enter(@Nullable String startedBy) {
    jdbc.sql(ENTER).param(clock.millis()).param(startedBy).update();
    jdbc.sql(LATER_IDS).update();
    return read().term();
  }

  /**
   * Raises the term, in any state, to one that a gateway has seen: MySQL has lost it, was restored
   * from a backup for example, and that gateway confirms nothing under a former one.
   */
  void raise(long seen) {
    jdbc.sql("UPDATE fallback SET term = GREATEST(term, ?) WHERE id = 1").param(seen).update();
  }

  void set(int failurePercent, int failuresPerSecond) {
    jdbc.sql("UPDATE fallback SET failure_percent = ?, failures_per_second = ? WHERE id = 1")
        .params(failurePercent, failuresPerSecond)
        .update();
  }
}
