package io.seckill.consumer.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The statements on {@code user_quota}. */
final class QuotaTable {

  /**
   * Counts 0 when refused, 1 when inserted, 2 when raised, on a connection with useAffectedRows.
   * Touches no other column: a changed one would turn a refusal into a 2 (FACTS 30).
   */
  private static final String RAISE_ONE =
      "INSERT INTO user_quota (user_id, sku_id, owned_count, limit_units) VALUES (?, ?, ?, ?)"
          + " ON DUPLICATE KEY UPDATE owned_count ="
          + " IF(owned_count + VALUES(owned_count) <= limit_units,"
          + " owned_count + VALUES(owned_count), owned_count)";

  private QuotaTable() {}

  /**
   * Raises one user's quota if the limit allows. The first purchase is not guarded by the statement
   * (FACTS 29): the caller has checked {@code units <= limit}.
   *
   * @return 0 refused, 1 inserted, 2 raised
   */
  static int raise(Connection connection, long userId, long skuId, int units, int limit)
      throws SQLException {
    try (PreparedStatement raise = connection.prepareStatement(RAISE_ONE)) {
      raise.setLong(1, userId);
      raise.setLong(2, skuId);
      raise.setInt(3, units);
      raise.setInt(4, limit);
      return raise.executeUpdate();
    }
  }
}
