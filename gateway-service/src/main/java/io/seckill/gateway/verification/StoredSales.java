package io.seckill.gateway.verification;

import io.seckill.common.sale.SaleExpiry;
import io.seckill.common.sale.SalePhase;
import io.seckill.gateway.verification.HighWaterMarks.Mark;
import io.seckill.gateway.verification.HighWaterMarks.Verdict;
import io.seckill.gateway.verification.RedisInspection.Observation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Reads the sales from MySQL; never writes. */
record StoredSales(JdbcTemplate mysql) {

  /** Sales whose rules Redis must still have: without the rules it can sell nothing. */
  private static final String SALES =
      "SELECT sku_id, state, closes_at <= UTC_TIMESTAMP(3) AS ended, epoch, last_seq, change_seq"
          + " FROM products WHERE state <> 'NEW' AND "
          + SalePhase.REDIS_DECIDES
          + " AND closes_at > UTC_TIMESTAMP() - INTERVAL 31 DAY" // for the index
          + " AND closes_at > UTC_TIMESTAMP() - INTERVAL retention_s - "
          + SaleExpiry.RULES_LEAD.toSeconds()
          + " SECOND";

  private static final String PROVEN_SERVERS =
      "SELECT partition_no, replication_id FROM redis_server";

  /**
   * @param state PREHEATED, OPEN, PAUSED or CLOSED
   * @param ended whether its closing time has passed
   * @param lastSeq highest admission sequence stored, or the one from which a rebuild continued
   * @param changeSeq number of the last change of its stock in this epoch that Redis has had
   */
  record Sale(long skuId, String state, boolean ended, long epoch, long lastSeq, long changeSeq) {

    Sale in(String otherState) {
      return new Sale(skuId, otherState, ended, epoch, lastSeq, changeSeq);
    }

    /** Whether Redis lacks some of it. */
    boolean isAheadOf(Observation data) {
      return data.epoch() < epoch
          || data.seq() < lastSeq
          || (data.epoch() == epoch && data.changeSeq() < changeSeq);
    }

    boolean sells() {
      return state.equals("OPEN");
    }

    /** Whether it sells nothing any more; order-consumer does not rebuild it. */
    boolean isOver() {
      return ended || state.equals("CLOSED");
    }

    /**
     * Whether an order of this sale may have been admitted, so that its repeat must not be refused.
     */
    boolean hasSold() {
      return sells() || state.equals("PAUSED") || lastSeq > 0;
    }

    /**
     * Whether the data in Redis may lack admissions or changes of the stock; false when they could
     * not be read. Includes sales that are not open: a repeat of an admitted purchase must not be
     * refused from data that have lost it. While a sale is being loaded, the scripts themselves
     * answer that the outcome is unknown.
     */
    boolean isSuspect(@Nullable Observation data, @Nullable Mark mark) {
      if (data == null || data.state().equals("PREHEATING")) {
        return false;
      } else if (data.equals(Observation.ABSENT)) {
        return hasSold() || (mark != null && mark.seq() > 0);
      }
      boolean sellsAlone = data.state().equals("OPEN") && !sells();
      return isAheadOf(data) || sellsAlone || (mark != null && mark.verdict() != Verdict.WHOLE);
    }
  }

  List<Sale> all() {
    return mysql.query(
        SALES,
        (row, i) ->
            new Sale(
                row.getLong("sku_id"),
                row.getString("state"),
                row.getBoolean("ended"),
                row.getLong("epoch"),
                row.getLong("last_seq"),
                row.getLong("change_seq")));
  }

  /**
   * Returns, by partition, the replication id of the Redis server for which MySQL has stored
   * everything that was published before that server took over. A partition without such a server
   * is not contained.
   */
  Map<Integer, String> provenServers() {
    Map<Integer, String> proven = new HashMap<>();
    mysql.query(
        PROVEN_SERVERS,
        row -> {
          proven.put(row.getInt(1), row.getString(2));
        });
    return proven;
  }
}
