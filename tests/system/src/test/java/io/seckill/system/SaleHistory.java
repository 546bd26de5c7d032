package io.seckill.system;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * Writes the rows that a sale leaves in MySQL, many with each statement: every user has bought one
 * unit, one in five has cancelled, and the others have paid.
 */
public final class SaleHistory {

  private static final Duration LONGEST_STATEMENT = Duration.ofMinutes(10);
  private static final long FIRST_USER = 700_000;
  private static final int LIMIT = 9;

  private SaleHistory() {}

  /**
   * Writes one sale that is at rest, in its first epoch.
   *
   * @param closesInDays negative for a sale that is over
   */
  public static void write(Connection mysql, long sku, int orders, String state, int closesInDays)
      throws SQLException {
    mysql.setNetworkTimeout(Runnable::run, (int) LONGEST_STATEMENT.toMillis());
    try (Statement statement = mysql.createStatement()) {
      numbers(statement, orders);
      int cancelled = orders / 5;
      int paid = orders - cancelled;
      statement.execute(
          "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
              + " limit_per_user, opens_at, closes_at, state, epoch, last_seq, settled)"
              + " VALUES (%d, 'thing', 100, %d, %d, 'LIMITED', %d,"
                  .formatted(sku, 10 + cancelled, orders + 10, LIMIT)
              + " UTC_TIMESTAMP() + INTERVAL %d DAY, UTC_TIMESTAMP() + INTERVAL %d DAY,"
                  .formatted(closesInDays - 2, closesInDays)
              + " '%s', 1, %d, %d)".formatted(state, orders, orders));
      orders(statement, sku, orders, Math.min(0, closesInDays));
      statement.execute(
          ("INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units) SELECT sku_id,"
                  + " user_id, IF(status = 'PAID', 1, 0), %d FROM orders WHERE sku_id = %d")
              .formatted(LIMIT, sku));
      statement.execute(
          "INSERT INTO payment (order_id, amount_cents, state, charge_id, updated_at, check_at)"
              + " SELECT order_id, 100, 'CHARGED', CONCAT('sim-', order_id), updated_at, NULL"
              + " FROM orders WHERE status = 'PAID' AND sku_id = "
              + sku);
      statement.execute(
          "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units,"
              + " created_at, done_at) SELECT order_id, sku_id, user_id, 1, 1, 1, updated_at,"
              + " updated_at FROM orders WHERE status = 'CANCELLED' AND sku_id = "
              + sku);
      if (orders > 0) {
        statement.execute(
            "INSERT INTO order_total VALUES (%1$d, 'CONFIRMED', %2$d, %2$d), (%1$d, 'PAID', %3$d, %3$d), (%1$d, 'CANCELLED', %4$d, %4$d)"
                .formatted(sku, orders, paid, cancelled));
      }
    }
  }

  private static void orders(Statement statement, long sku, int orders, int days)
      throws SQLException {
    long ageMs = Duration.ofHours(1).minus(Duration.ofDays(days)).toMillis();
    long timeMs = System.currentTimeMillis() - ageMs;
    long first = OrderId.of(timeMs, Partition.ofSku(sku), 1, 0).value();
    long next = OrderId.of(timeMs + 1, Partition.ofSku(sku), 1, 0).value();
    statement.execute(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at, created_at, updated_at)"
            + " SELECT %d + i DIV 1000 * %d + i MOD 1000, %d + i, %d, 1, 100,"
                .formatted(first, next - first, FIRST_USER, sku)
            + " CONCAT('request-of-the-shopper-', i), IF(i MOD 5 = 0, 'CANCELLED', 'PAID'), 1,"
            + " i + 1, at, at, at FROM sale_history_number JOIN (SELECT UTC_TIMESTAMP(6)"
            + " + INTERVAL %d DAY - INTERVAL 1 HOUR AS at) t WHERE i < %d".formatted(days, orders));
  }

  /** A table with the numbers from 0; each statement doubles it. */
  private static void numbers(Statement statement, int count) throws SQLException {
    statement.execute(
        "CREATE TABLE IF NOT EXISTS sale_history_number (i INT NOT NULL PRIMARY KEY)");
    statement.execute("INSERT IGNORE INTO sale_history_number VALUES (0)");
    for (int rows = 1; rows < count; rows *= 2) {
      statement.execute(
          "INSERT IGNORE INTO sale_history_number SELECT i + %1$d FROM sale_history_number WHERE i < %1$d"
              .formatted(rows));
    }
  }

  /** A user of every sale, from 0 on. */
  public static long user(int index) {
    return FIRST_USER + index;
  }
}
