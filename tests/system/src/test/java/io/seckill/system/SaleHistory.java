package io.seckill.system;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Writes the rows that sales leave in MySQL, many with each statement: every user has bought two
 * single units, one order in five was cancelled, and the others are paid.
 */
public final class SaleHistory {

  private static final Duration LONGEST_STATEMENT = Duration.ofMinutes(10);
  private static final long FIRST_USER = 700_000;
  private static final int LIMIT = 9;

  /** Units of each sale that nobody has bought. */
  private static final int UNSOLD = 100_000;

  /** Rows of one statement. */
  private static final int PAGE = 1_000_000;

  private static final int ORDERS_IN_A_MILLISECOND = 1_000;

  /** Of the sales before it, which sold to half of the users of a sale as well. */
  private static final int SALES_OF_A_USER = 2;

  /** The number of an order among those of all sales is {@code n}. */
  private static final String NUMBERS =
      " FROM (SELECT i + %1$d AS n FROM sale_history_number WHERE i + %1$d < %2$d) numbers";

  private static final String ORDERS =
      "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
          + " status, epoch, seq, admitted_at, created_at, updated_at) SELECT {order}, {user},"
          + " {sku}, 1, 100, CONCAT('request-of-the-shopper-', n MOD {orders}),"
          + " IF({cancelled}, 'CANCELLED', 'PAID'), 1, n MOD {orders} + 1, {at}, {at}, {at}";

  private static final String PAYMENTS =
      "INSERT INTO payment (order_id, amount_cents, state, charge_id, updated_at, check_at)"
          + " SELECT {order}, 100, 'CHARGED', CONCAT('sim-', {order}), {at}, NULL";

  private static final String COMPENSATIONS =
      "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units,"
          + " created_at, done_at) SELECT {order}, {sku}, {user}, 1, 1, 1, {at}, {at}";

  private static final String QUOTAS =
      "INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units) SELECT {sku}, {user},"
          + " 2 - ({cancelled}) - (({cancelledNext})), "
          + LIMIT;

  private final Connection mysql;
  private final Map<String, Object> terms;
  private final long firstSku;
  private final int sales;
  private final int orders;
  private final String state;
  private final int closesInDays;

  private SaleHistory(
      Connection mysql, long firstSku, int sales, int orders, String state, int closesInDays) {
    if (orders % 2 != 0) {
      throw new IllegalArgumentException("every user has two orders, so " + orders + " is odd");
    }
    this.mysql = mysql;
    this.firstSku = firstSku;
    this.sales = sales;
    this.orders = orders;
    this.state = state;
    this.closesInDays = closesInDays;
    this.terms = terms();
  }

  /**
   * Writes one sale that is at rest, in its first epoch.
   *
   * @param orders even
   * @param closesInDays negative for a sale that is over
   */
  public static void write(Connection mysql, long sku, int orders, String state, int closesInDays)
      throws SQLException {
    new SaleHistory(mysql, sku, 1, orders, state, closesInDays).write(true);
  }

  /**
   * Writes so many sales of consecutive SKUs, which closed 40 days ago.
   *
   * @param whole also payments and compensations
   */
  public static void writeFinished(
      Connection mysql, long firstSku, int sales, int ordersOfEach, boolean whole)
      throws SQLException {
    if (sales > 0) {
      new SaleHistory(mysql, firstSku, sales, ordersOfEach, "CLOSED", -40).write(whole);
    }
  }

  /** A user of the first sale with this SKU, from 0 on. */
  public static long user(long sku, int orders, int index) {
    return firstUser(sku, orders) + index;
  }

  private static long firstUser(long sku, int orders) {
    return FIRST_USER + sku * (orders / 2 / SALES_OF_A_USER);
  }

  /** Expressions over {@code n}, by the names that the statements give them. */
  private Map<String, Object> terms() {
    long ageMs = Duration.ofHours(1).minus(Duration.ofDays(Math.min(0, closesInDays))).toMillis();
    long timeMs = System.currentTimeMillis() - ageMs;
    long first = OrderId.of(timeMs, 0, 1, 0).value();
    long perMs = OrderId.of(timeMs + 1, 0, 1, 0).value() - first;
    long perPartition = OrderId.of(timeMs, 1, 1, 0).value() - first;
    int msOfASale = orders / ORDERS_IN_A_MILLISECOND + 1;
    String sale = "(n DIV {orders})";
    String inSale = "(n MOD {orders})";
    return Map.of(
        "{order}",
        "%d + (%s * %d + %s DIV %d) * %d + (%d + %s) MOD %d * %d + %s MOD %d"
            .formatted(
                first,
                sale,
                msOfASale,
                inSale,
                ORDERS_IN_A_MILLISECOND,
                perMs,
                firstSku,
                sale,
                Partition.COUNT,
                perPartition,
                inSale,
                ORDERS_IN_A_MILLISECOND),
        "{user}",
        "%d + %s * %d + %s DIV 2"
            .formatted(firstUser(firstSku, orders), sale, orders / 2 / SALES_OF_A_USER, inSale),
        "{sku}",
        firstSku + " + " + sale,
        "{cancelledNext}",
        "(" + inSale + " + 1) MOD 5 = 0",
        "{cancelled}",
        inSale + " MOD 5 = 0",
        "{at}",
        "UTC_TIMESTAMP(6) + INTERVAL %d DAY - INTERVAL 1 HOUR"
            .formatted(Math.min(0, closesInDays)));
  }

  private void write(boolean whole) throws SQLException {
    mysql.setNetworkTimeout(Runnable::run, (int) LONGEST_STATEMENT.toMillis());
    try (Statement statement = mysql.createStatement()) {
      long all = (long) sales * orders;
      numbers(statement, Math.max(all, sales));
      products(statement);
      for (long from = 0; from < all; from += PAGE) {
        String numbers = NUMBERS.formatted(from, all);
        statement.execute(filled(ORDERS + numbers));
        if (whole) {
          statement.execute(filled(PAYMENTS + numbers + " WHERE NOT ({cancelled})"));
          statement.execute(filled(COMPENSATIONS + numbers + " WHERE {cancelled}"));
        }
        statement.execute(filled(QUOTAS + numbers + " WHERE n MOD 2 = 0"));
      }
    }
  }

  private String filled(String statement) {
    String text = statement;
    for (var term : terms.entrySet()) {
      text = text.replace(term.getKey(), "(" + term.getValue() + ")");
    }
    return text.replace("{orders}", Integer.toString(orders));
  }

  private void products(Statement statement) throws SQLException {
    int cancelled = (orders + 4) / 5;
    String skus = " FROM sale_history_number WHERE i < " + sales;
    statement.execute(
        "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
            + " limit_per_user, opens_at, closes_at, state, epoch, last_seq, settled)"
            + " SELECT %d + i, 'thing', 100, %d, %d, 'LIMITED', %d,"
                .formatted(firstSku, UNSOLD + cancelled, orders + UNSOLD, LIMIT)
            // No daily audit of a running sale is due today.
            + " IF('%s' = 'CLOSED', closes - INTERVAL 2 DAY, UTC_TIMESTAMP() - INTERVAL 1 MINUTE),"
                .formatted(state)
            + " closes,"
            + " '%s', 1, %d, %d FROM sale_history_number JOIN".formatted(state, orders, orders)
            + " (SELECT UTC_TIMESTAMP() + INTERVAL %d DAY AS closes) t WHERE i < %d"
                .formatted(closesInDays, sales));
    for (Map.Entry<String, Integer> total :
        Map.of("CONFIRMED", orders, "PAID", orders - cancelled, "CANCELLED", cancelled)
            .entrySet()) {
      if (total.getValue() > 0) {
        statement.execute(
            "INSERT INTO order_total (sku_id, fate, orders, units) SELECT %d + i, '%s', %d, %3$d"
                    .formatted(firstSku, total.getKey(), total.getValue())
                + skus);
      }
    }
  }

  /** A table with the numbers from 0, at most a page; each statement doubles it. */
  private static void numbers(Statement statement, long count) throws SQLException {
    for (String sql :
        List.of(
            "CREATE TABLE IF NOT EXISTS sale_history_number (i INT NOT NULL PRIMARY KEY)",
            "INSERT IGNORE INTO sale_history_number VALUES (0)")) {
      statement.execute(sql);
    }
    for (int rows = 1; rows < Math.min(count, PAGE); rows *= 2) {
      statement.execute(
          "INSERT IGNORE INTO sale_history_number SELECT i + %1$d FROM sale_history_number WHERE i < %1$d AND i + %1$d < %2$d"
              .formatted(rows, PAGE));
    }
  }
}
