package io.seckill.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.guarantee.OrderHistoryRow;
import io.seckill.system.guarantee.Repaired;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleCounters;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.Rows;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/** Reads a sale from MySQL and Redis directly, not through a service. */
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
      return Rows.number(mysql, "SELECT COUNT(*) FROM orders WHERE sku_id = ?", skuId);
    }
  }

  /** Sequence number of the last admission of a SKU in Redis. */
  public long admissionSeq(long skuId) {
    String seq = redis.hget(RedisKeys.sku(skuId), "seq");
    return seq == null ? 0 : Long.parseLong(seq);
  }

  /** Highest sequence number of a SKU's admissions that MySQL has. */
  public long storedSeq(long skuId) throws SQLException {
    try (Connection mysql = connect()) {
      return Rows.number(mysql, "SELECT last_seq FROM products WHERE sku_id = ?", skuId);
    }
  }

  /** Orders of a SKU that the broker has confirmed and MySQL has not settled. */
  public long inBroker(long skuId) throws SQLException {
    try (Connection mysql = connect()) {
      SaleCounters counters = counters(mysql, skuId);
      return counters.published() - counters.settled();
    }
  }

  /** The sale's epoch; a rebuild begins a new one. */
  public long epoch(long skuId) {
    try (Connection mysql = connect()) {
      return Rows.number(mysql, "SELECT epoch FROM products WHERE sku_id = ?", skuId);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Reads a sale; if it is in shards, the whole, and each shard with the units that MySQL has given
   * it.
   */
  public List<SaleAtRest> readAll(SaleOffer offer) throws SQLException {
    if (offer.shards() == 1) {
      return List.of(read(offer));
    }
    List<SaleAtRest> all = new ArrayList<>();
    for (long shard : offer.inRedis()) {
      long given = product("initial_stock", shard);
      all.add(read(new SaleOffer(shard, offer.policy(), offer.limit(), given)));
    }
    all.add(0, SaleAtRest.together(offer, product("stock", offer.skuId()), List.copyOf(all)));
    return all;
  }

  private long product(String column, long id) throws SQLException {
    try (Connection mysql = connect()) {
      return Rows.number(mysql, "SELECT " + column + " FROM products WHERE sku_id = ?", id);
    }
  }

  /** Reads the whole sale; meaningful only when no order is in progress any more. */
  public SaleAtRest read(SaleOffer offer) throws SQLException {
    if (offer.isStrong()) {
      return readStrong(offer);
    }
    long skuId = offer.skuId();
    try (Connection mysql = connect()) {
      Map<String, String> bought = inBuckets(skuId);
      return new SaleAtRest(
          offer,
          Rows.number(mysql, "SELECT stock FROM products WHERE sku_id = ?", skuId),
          orders(mysql, skuId),
          aliases(mysql, skuId),
          charges(mysql, skuId),
          mysqlQuota(mysql, skuId),
          stock(redis.get(RedisKeys.stock(skuId))),
          redisQuota(bought),
          matching(bought, "\\d+").keySet(),
          redis.llen(RedisKeys.outbox(Partition.ofSku(skuId))),
          inPrivateQueues(redis, Partition.ofSku(skuId)),
          requests(bought),
          compensated(bought),
          compensations(mysql, skuId),
          Set.of(),
          repairs(mysql, skuId),
          counters(mysql, skuId));
    }
  }

  /** -1 while Redis lacks the stock, as in the middle of a rebuild; MySQL's is never that. */
  private static long stock(@Nullable String inRedis) {
    return inRedis == null ? -1 : Long.parseLong(inRedis);
  }

  /** Of Redis only what should not be there. */
  private SaleAtRest readStrong(SaleOffer offer) throws SQLException {
    long skuId = offer.skuId();
    try (Connection mysql = connect()) {
      return new SaleAtRest(
          offer,
          Rows.number(mysql, "SELECT stock FROM products WHERE sku_id = ?", skuId),
          orders(mysql, skuId),
          aliases(mysql, skuId),
          charges(mysql, skuId),
          mysqlQuota(mysql, skuId),
          0,
          Map.of(),
          Set.of(),
          0,
          0,
          Map.of(),
          Set.of(),
          compensations(mysql, skuId),
          traces(skuId),
          repairs(mysql, skuId),
          counters(mysql, skuId));
    }
  }

  /** The keys that name a SKU, and the shared ones that have an entry of it. */
  private Set<String> traces(long skuId) {
    int partition = Partition.ofSku(skuId);
    Set<String> traces = new HashSet<>();
    ScanParams named = new ScanParams().match(RedisKeys.prefix(partition) + "*:" + skuId + "*");
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> page = redis.scan(cursor, named.count(1_000));
      traces.addAll(page.getResult());
      cursor = page.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    traces.removeIf(key -> !key.matches(".*:" + skuId + "(:.*)?"));
    if (redis.sismember(RedisKeys.skus(partition), Long.toString(skuId))) {
      traces.add(RedisKeys.skus(partition));
    }
    if (redis.hexists(RedisKeys.stops(partition), Long.toString(skuId))) {
      traces.add(RedisKeys.stops(partition));
    }
    return traces;
  }

  private SaleCounters counters(Connection mysql, long skuId) throws SQLException {
    Map<String, String> sale = redis.hgetAll(RedisKeys.sku(skuId));
    return new SaleCounters(
        Long.parseLong(sale.getOrDefault("admittedOrders", "0")),
        Long.parseLong(sale.getOrDefault("publishedOrders", "0")),
        Rows.number(mysql, "SELECT settled FROM products WHERE sku_id = ?", skuId),
        Rows.number(
            mysql,
            "SELECT COUNT(*) FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id"
                + " WHERE o.sku_id = ?",
            skuId),
        Long.parseLong(sale.getOrDefault("seq", "0")),
        Rows.number(mysql, "SELECT last_seq FROM products WHERE sku_id = ?", skuId));
  }

  /** All fields of a sale's buckets; each field is in one bucket. */
  private Map<String, String> inBuckets(long skuId) {
    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(skuId), "bucketCount"));
    Map<String, String> fields = new HashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      List<Response<Map<String, String>>> answers =
          IntStream.range(0, buckets)
              .mapToObj(bucket -> pipeline.hgetAll(RedisKeys.bucket(skuId, bucket)))
              .toList();
      pipeline.sync();
      answers.forEach(answer -> fields.putAll(answer.get()));
    }
    assertThat(fields.keySet())
        .allMatch(field -> field.matches("\\d+(:.*)?|compensated:\\d+|ended:(\\d+|range)"));
    return fields;
  }

  private static Map<String, String> matching(Map<String, String> fields, String pattern) {
    Map<String, String> found = new HashMap<>(fields);
    found.keySet().removeIf(field -> !field.matches(pattern));
    return found;
  }

  /** Returns {@code <user>:<key>} and the order id of {@code <order id>:<quantity>}. */
  private static Map<String, String> requests(Map<String, String> fields) {
    Map<String, String> requests = matching(fields, "\\d+:.+");
    requests.replaceAll((field, value) -> value.substring(0, value.indexOf(':')));
    return requests;
  }

  private static Set<String> compensated(Map<String, String> fields) {
    return fields.keySet().stream()
        .filter(field -> field.startsWith(RedisKeys.COMPENSATED))
        .map(field -> field.substring(RedisKeys.COMPENSATED.length()))
        .collect(Collectors.toSet());
  }

  private static Map<String, Boolean> compensations(Connection mysql, long skuId)
      throws SQLException {
    return map(
        mysql,
        "SELECT order_id, done_at IS NOT NULL FROM compensation WHERE sku_id = ?",
        skuId,
        row -> row.getString(1),
        row -> row.getBoolean(2));
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl, user, password);
  }

  private static List<OrderHistoryRow> orders(Connection mysql, long skuId) throws SQLException {
    String sql =
        "SELECT order_id, user_id, request_id, quantity, status, COALESCE(reason, ''),"
            + " unit_price_cents,"
            + " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', admitted_at) DIV 1000"
            + " FROM orders WHERE sku_id = ?";
    return Rows.of(
        mysql,
        sql,
        row ->
            new OrderHistoryRow(
                row.getString(1),
                row.getLong(2),
                row.getString(3),
                row.getInt(4),
                row.getString(5),
                row.getString(6),
                row.getLong(7),
                row.getLong(8)),
        skuId);
  }

  private static Set<String> aliases(Connection mysql, long skuId) throws SQLException {
    String sql =
        "SELECT a.order_id FROM order_alias a JOIN orders o ON o.order_id = a.stored_order_id"
            + " WHERE o.sku_id = ?";
    return new HashSet<>(Rows.of(mysql, sql, row -> row.getString(1), skuId));
  }

  private static Map<String, Long> charges(Connection mysql, long skuId) throws SQLException {
    return map(
        mysql,
        "SELECT c.id, c.cents FROM (SELECT order_id AS id, amount_cents AS cents"
            + " FROM simulated_charge WHERE state = 'CHARGED' UNION ALL SELECT charge_id,"
            + " amount_cents - refunded_cents FROM wallet_charge"
            + " WHERE amount_cents > refunded_cents) c"
            + " JOIN orders o ON o.order_id = c.id WHERE o.sku_id = ?",
        skuId,
        row -> row.getString(1),
        row -> row.getLong(2));
  }

  private static List<Repaired> repairs(Connection mysql, long skuId) throws SQLException {
    String sql =
        "SELECT p.kind, p.subject, p.found, p.wanted FROM repair p"
            + " JOIN reconciliation r ON r.id = p.reconciliation_id"
            + " WHERE p.made AND r.sku_id = ? ORDER BY p.id";
    return Rows.of(
        mysql,
        sql,
        row -> new Repaired(row.getString(1), row.getString(2), row.getString(3), row.getString(4)),
        skuId);
  }

  private static Map<Long, Long> mysqlQuota(Connection mysql, long skuId) throws SQLException {
    return map(
        mysql,
        "SELECT user_id, owned_count FROM user_quota WHERE sku_id = ?",
        skuId,
        row -> row.getLong(1),
        row -> row.getLong(2));
  }

  private static <K, V> Map<K, V> map(
      Connection mysql, String sql, long skuId, Rows.Reader<K> key, Rows.Reader<V> value)
      throws SQLException {
    Map<K, V> map = new HashMap<>();
    Rows.of(mysql, sql, row -> map.put(key.read(row), value.read(row)), skuId);
    return map;
  }

  private static Map<Long, Long> redisQuota(Map<String, String> fields) {
    Map<Long, Long> quota = new HashMap<>();
    matching(fields, "\\d+:")
        .forEach(
            (field, units) -> quota.put(Long.valueOf(field.replace(":", "")), Long.valueOf(units)));
    return quota;
  }

  private static long inPrivateQueues(UnifiedJedis redis, int partition) {
    return privateQueues(redis, partition).stream().mapToLong(redis::llen).sum();
  }

  /**
   * Keys of the private queues of a partition, including those that no lane has registered. A key
   * of that name that is not a list is left out.
   */
  public static Set<String> privateQueues(UnifiedJedis redis, int partition) {
    ScanParams queues = new ScanParams().match(RedisKeys.privateQueue(partition, "*")).count(1_000);
    Set<String> found = new HashSet<>();
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> page = redis.scan(cursor, queues, "list");
      found.addAll(page.getResult());
      cursor = page.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    return found;
  }
}
