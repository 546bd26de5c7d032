package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;

/** The statements on {@code user_quota}. */
final class QuotaTable {

  /**
   * Its affected-row count is 0 when refused, 1 when inserted, 2 when raised, on a connection with
   * useAffectedRows. It sets no other column: a change there would turn a refusal into a 2
   * (facts.md 30).
   */
  private static final String RAISE_ONE =
      "INSERT INTO user_quota (user_id, sku_id, owned_count, limit_units) VALUES (?, ?, ?, ?)"
          + " ON DUPLICATE KEY UPDATE owned_count ="
          + " IF(owned_count + VALUES(owned_count) <= limit_units,"
          + " owned_count + VALUES(owned_count), owned_count)";

  /**
   * Raises without a condition: the CHECK refuses the statement as a whole. A condition here would
   * be of no use, because a raise and a refusal together have the same row count as two inserts.
   */
  private static final String RAISE_MANY =
      " ON DUPLICATE KEY UPDATE owned_count = owned_count + VALUES(owned_count)";

  private static final String LOWER =
      "UPDATE user_quota SET owned_count = owned_count - ? WHERE user_id = ? AND sku_id = ?";

  private QuotaTable() {}

  /** Units of one user and SKU. */
  record Raise(long userId, long skuId, int units, int limit) {

    private boolean isOf(OrderMessage order) {
      return userId == order.userId() && skuId == order.skuId();
    }
  }

  /**
   * Units by user and SKU of orders sorted by them; null when those of one user and SKU exceed the
   * limit (facts.md 29).
   */
  static @Nullable List<Raise> raises(List<OrderMessage> orders, Map<Long, SaleRules> rules) {
    List<Raise> raises = new ArrayList<>(orders.size());
    for (OrderMessage order : orders) {
      SaleRules sale = SaleRules.of(rules, order);
      if (!sale.keepsQuota()) {
        continue;
      }
      int units = order.quantity();
      int last = raises.size() - 1;
      if (last >= 0 && raises.get(last).isOf(order)) {
        units += raises.remove(last).units();
      }
      if (units > sale.limit()) {
        return null;
      }
      raises.add(new Raise(order.userId(), order.skuId(), units, sale.limit()));
    }
    return raises;
  }

  /**
   * Raises one user's quota if the limit allows. The first purchase is not guarded by the statement
   * (facts.md 29): the caller has checked {@code units <= limit}. Returns 0 refused, 1 inserted, 2
   * raised.
   */
  static int raise(JdbcOperations jdbc, long userId, long skuId, int units, int limit) {
    return jdbc.update(RAISE_ONE, userId, skuId, units, limit);
  }

  /**
   * Raises many, each user and SKU once, sorted.
   *
   * @throws DataAccessException of a violated CHECK when one of them is above its limit
   */
  static void raiseAll(JdbcOperations jdbc, Collection<Raise> raises) {
    if (raises.isEmpty()) {
      return;
    }
    String sql =
        "INSERT INTO user_quota (user_id, sku_id, owned_count, limit_units) VALUES "
            + Sql.repeated("(?,?,?,?)", raises.size())
            + RAISE_MANY;
    jdbc.update(
        sql,
        insert -> {
          int at = 1;
          for (Raise raise : raises) {
            insert.setLong(at++, raise.userId());
            insert.setLong(at++, raise.skuId());
            insert.setInt(at++, raise.units());
            insert.setInt(at++, raise.limit());
          }
        });
  }

  /** Units of those users who have any. */
  static Map<Long, Integer> owned(JdbcOperations jdbc, long skuId, Collection<Long> users) {
    String sql =
        "SELECT user_id, owned_count FROM user_quota WHERE sku_id = ? AND user_id IN ("
            + Sql.marks(users.size())
            + ")";
    List<Long> parameters = new ArrayList<>(List.of(skuId));
    parameters.addAll(users);
    return jdbc.query(
        sql, Sql.map(row -> row.getLong(1), row -> row.getInt(2)), parameters.toArray());
  }

  /** Reverts a raise made by this transaction. */
  static void lower(JdbcOperations jdbc, long userId, long skuId, int units) {
    jdbc.update(LOWER, units, userId, skuId);
  }
}
