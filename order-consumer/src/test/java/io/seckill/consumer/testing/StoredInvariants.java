package io.seckill.consumer.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.testing.OrderTotalSql;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Checks the tables against the invariants I1 to I15 of docs/architecture.md. */
public final class StoredInvariants {

  private final JdbcClient sql;

  public StoredInvariants(JdbcClient sql) {
    this.sql = sql;
  }

  public long number(String query) {
    return sql.sql(query).query(Long.class).single();
  }

  /** {@code CONFIRMED}, {@code REJECTED SOLD_OUT}, ..., or {@code none}. */
  public String status(OrderId order) {
    return sql.sql("SELECT CONCAT_WS(' ', status, reason) FROM orders WHERE order_id = ?")
        .param(order.value())
        .query(String.class)
        .optional()
        .orElse("none");
  }

  public String status(OrderMessage order) {
    return status(order.orderId());
  }

  public long stock(long skuId) {
    return number("SELECT stock FROM products WHERE sku_id = " + skuId);
  }

  public long settled(long skuId) {
    return number("SELECT settled FROM products WHERE sku_id = " + skuId);
  }

  /** Waits until this many orders of the SKU are stored, in any status. */
  public void awaitOrders(long skuId, long orders) {
    await("SELECT COUNT(*) FROM orders WHERE sku_id = " + skuId, orders);
  }

  /** Waits until the query returns this number. */
  public void await(String query, long number) {
    eventually()
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(number(query)).as(query).isEqualTo(number));
  }

  /**
   * I1: the stock is the initial stock less the units sold, and never below 0; of a SKU with
   * shards, that of each shard.
   */
  public void checkNeverOversold() {
    List<Map<String, Object>> wrong =
        sql.sql(
                """
                SELECT p.sku_id, p.stock, p.initial_stock, COALESCE(SUM(o.quantity), 0) AS sold
                FROM products p LEFT JOIN orders o
                  ON o.sku_id = p.sku_id AND o.status IN ('CONFIRMED', 'PAID')
                WHERE p.shards = 1
                GROUP BY p.sku_id, p.stock, p.initial_stock
                HAVING p.stock <> p.initial_stock - sold OR p.stock < 0
                """)
            .query()
            .listOfRows();
    assertThat(wrong).as("I1: stock = initial stock - sold, and not below 0").isEmpty();
  }

  /** I2: a user's quota is the number of units that the user owns, and within the limit. */
  public void checkQuotas() {
    List<Map<String, Object>> wrong =
        sql.sql(
                """
                SELECT user_id, sku_id, SUM(units) AS difference FROM (
                  SELECT user_id, sku_id, owned_count AS units FROM user_quota
                  UNION ALL
                  SELECT o.user_id, o.sku_id, -o.quantity FROM orders o
                    JOIN products p ON p.sku_id = o.sku_id AND p.policy <> 'UNLIMITED'
                    WHERE o.status IN ('CONFIRMED', 'PAID')) both_sides
                GROUP BY user_id, sku_id HAVING difference <> 0
                """)
            .query()
            .listOfRows();
    assertThat(wrong).as("I2: quota = units owned").isEmpty();
    assertThat(number("SELECT COUNT(*) FROM user_quota WHERE owned_count > limit_units"))
        .as("I2: within the limit")
        .isZero();
  }

  /** Checks I1 and I2, for every SKU and user. */
  public void check() {
    checkNeverOversold();
    checkQuotas();
    checkTotals();
  }

  /** The totals of every SKU are those of its rows. */
  private void checkTotals() {
    List<Map<String, Object>> wrong = sql.sql(OrderTotalSql.wrong("TRUE")).query().listOfRows();
    assertThat(wrong).as("totals = rows").isEmpty();
  }
}
