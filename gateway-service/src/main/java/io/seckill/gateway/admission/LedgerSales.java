package io.seckill.gateway.admission;

import java.util.List;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** What MySQL knows of the sales; read only. */
final class LedgerSales {

  /** A sale's data in Redis live 48 h beyond closing; nothing older can be sold from. */
  private static final String QUERY =
      "SELECT sku_id, state, epoch, last_seq FROM products"
          + " WHERE state <> 'NEW' AND closes_at > UTC_TIMESTAMP() - INTERVAL 3 DAY";

  private final JdbcTemplate mysql;

  /**
   * @param state PREHEATED, OPEN, PAUSED or CLOSED
   * @param lastSeq highest admission sequence stored, or where a rebuild let it go on
   */
  record Sale(long skuId, String state, long epoch, long lastSeq) {

    Sale in(String otherState) {
      return new Sale(skuId, otherState, epoch, lastSeq);
    }

    boolean sells() {
      return state.equals("OPEN");
    }
  }

  LedgerSales(JdbcTemplate mysql) {
    this.mysql = mysql;
  }

  /**
   * @throws DataAccessException when MySQL cannot be asked
   */
  List<Sale> all() {
    return mysql.query(
        QUERY,
        (row, i) ->
            new Sale(
                row.getLong("sku_id"),
                row.getString("state"),
                row.getLong("epoch"),
                row.getLong("last_seq")));
  }
}
