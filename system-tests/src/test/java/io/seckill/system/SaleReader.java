package io.seckill.system;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleCounters;
import io.seckill.system.guarantee.StoredOrder;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads what MySQL and Redis hold of a sale, straight from the stores and not through a service.
 */
public final class SaleReader {

  private final String jdbcUrl;
  private final String user;
  private final String password;
  private final UnifiedJedis redis;

  public SaleReader(String jdbcUrl, String user, String password, UnifiedJedis redis) {
    this.jdbcUrl = jdbcUrl;
    this.user = user;
    this.password = password;
    this.redis = redis;
  }

  /** Orders of a SKU that reached MySQL, aliases included. */
  public long settledOrders(long skuId) throws SQLException {
    try (Connection mysql = connect()) {
      return number(mysql, "SELECT COUNT(*) FROM orders WHERE sku_id = ?", skuId);
    }
  }

  /** Redis's last admission of a SKU. */
  public long admissionSeq(long skuId) {
    String seq = redis.hget(RedisKeys.sku(skuId), "seq");
    return seq == null ? 0 : Long.parseLong(seq);
  }

  /** The highest admission of a SKU that MySQL has. */
  public long storedSeq(long skuId) throws SQLException {
    try (Connection mysql = connect()) {
      return number(mysql, "SELECT last_seq FROM products WHERE sku_id = ?", skuId);
    }
  }

  /** The sale's life: a rebuild begins another. */
  public long epoch(long skuId) {
    try (Connection mysql = connect()) {
      return number(mysql, "SELECT epoch FROM products WHERE sku_id = ?", skuId);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Everything at once; only meaningful once nothing moves any more. */
  public SaleAtRest read(long skuId) throws SQLException {
    try (Connection mysql = connect()) {
      String policy = text(mysql, "SELECT policy FROM products WHERE sku_id = ?", skuId);
      long limit = number(mysql, "SELECT limit_per_user FROM products WHERE sku_id = ?", skuId);
      int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(skuId), "buckets"));
      return new SaleAtRest(
          skuId,
          number(mysql, "SELECT initial_stock FROM products WHERE sku_id = ?", skuId),
          "UNLIMITED".equals(policy) ? 0 : (int) limit,
          number(mysql, "SELECT stock FROM products WHERE sku_id = ?", skuId),
          orders(mysql, skuId),
          aliases(mysql),
          mysqlQuota(mysql, skuId),
          Long.parseLong(redis.get(RedisKeys.stock(skuId))),
          redisQuota(skuId, buckets),
          admitted(skuId, buckets),
          redis.llen(RedisKeys.outbox(Partition.ofSku(skuId))),
          inPrivateQueues(Partition.ofSku(skuId)),
          inBuckets(buckets, bucket -> RedisKeys.requests(skuId, bucket), SaleReader::orderId),
          inBuckets(buckets, bucket -> RedisKeys.given(skuId, bucket), given -> given).keySet(),
          giveBacks(mysql, skuId),
          counters(mysql, skuId));
    }
  }

  private SaleCounters counters(Connection mysql, long skuId) throws SQLException {
    Map<String, String> sale = redis.hgetAll(RedisKeys.sku(skuId));
    return new SaleCounters(
        Long.parseLong(sale.getOrDefault("admittedOrders", "0")),
        Long.parseLong(sale.getOrDefault("publishedOrders", "0")),
        number(mysql, "SELECT settled FROM products WHERE sku_id = ?", skuId),
        number(
            mysql,
            "SELECT COUNT(*) FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id"
                + " WHERE o.sku_id = ?",
            skuId),
        Long.parseLong(sale.getOrDefault("seq", "0")),
        number(mysql, "SELECT last_seq FROM products WHERE sku_id = ?", skuId));
  }

  private Map<String, String> inBuckets(
      int buckets, IntFunction<String> key, UnaryOperator<String> value) {
    Map<String, String> all = new HashMap<>();
    for (int bucket = 0; bucket < buckets; bucket++) {
      redis.hgetAll(key.apply(bucket)).forEach((field, text) -> all.put(field, value.apply(text)));
    }
    return all;
  }

  /** Of {@code <order id>:<quantity>}. */
  private static String orderId(String request) {
    return request.substring(0, request.indexOf(':'));
  }

  private static Map<String, Boolean> giveBacks(Connection mysql, long skuId) throws SQLException {
    String sql = "SELECT order_id, done_at IS NOT NULL FROM give_back WHERE sku_id = ?";
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      select.setLong(1, skuId);
      Map<String, Boolean> giveBacks = new HashMap<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          giveBacks.put(rows.getString(1), rows.getBoolean(2));
        }
      }
      return giveBacks;
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl, user, password);
  }

  private static List<StoredOrder> orders(Connection mysql, long skuId) throws SQLException {
    String sql =
        "SELECT order_id, user_id, request_id, quantity, status,"
            + " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', admitted_at) DIV 1000"
            + " FROM orders WHERE sku_id = ?";
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      select.setLong(1, skuId);
      List<StoredOrder> orders = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          orders.add(
              new StoredOrder(
                  rows.getString(1),
                  rows.getLong(2),
                  rows.getString(3),
                  rows.getInt(4),
                  rows.getString(5),
                  rows.getLong(6)));
        }
      }
      return orders;
    }
  }

  private static Set<String> aliases(Connection mysql) throws SQLException {
    try (PreparedStatement select = mysql.prepareStatement("SELECT order_id FROM order_alias");
        ResultSet rows = select.executeQuery()) {
      Set<String> ids = new HashSet<>();
      while (rows.next()) {
        ids.add(rows.getString(1));
      }
      return ids;
    }
  }

  private static Map<Long, Long> mysqlQuota(Connection mysql, long skuId) throws SQLException {
    String sql = "SELECT user_id, owned_count FROM user_quota WHERE sku_id = ?";
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      select.setLong(1, skuId);
      Map<Long, Long> quota = new HashMap<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          quota.put(rows.getLong(1), rows.getLong(2));
        }
      }
      return quota;
    }
  }

  private static long number(Connection mysql, String sql, long skuId) throws SQLException {
    return Long.parseLong(text(mysql, sql, skuId));
  }

  private static String text(Connection mysql, String sql, long skuId) throws SQLException {
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      select.setLong(1, skuId);
      try (ResultSet rows = select.executeQuery()) {
        if (!rows.next()) {
          throw new IllegalStateException("MySQL has no SKU " + skuId);
        }
        return rows.getString(1);
      }
    }
  }

  private Map<Long, Long> redisQuota(long skuId, int buckets) {
    Map<Long, Long> quota = new HashMap<>();
    for (int bucket = 0; bucket < buckets; bucket++) {
      redis
          .hgetAll(RedisKeys.quota(skuId, bucket))
          .forEach((user, units) -> quota.put(Long.valueOf(user), Long.valueOf(units)));
    }
    return quota;
  }

  private Set<String> admitted(long skuId, int buckets) {
    Set<String> ids = new HashSet<>();
    for (int bucket = 0; bucket < buckets; bucket++) {
      ids.addAll(redis.hkeys(RedisKeys.orders(skuId, bucket)));
    }
    return ids;
  }

  private long inPrivateQueues(int partition) {
    return redis.zrange(RedisKeys.lanes(partition), 0, -1).stream()
        .mapToLong(member -> redis.llen(RedisKeys.privateQueue(partition, member)))
        .sum();
  }
}
