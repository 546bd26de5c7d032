package io.seckill.system.faults;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.SaleReader;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.OrderTotalSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Checks a running sale periodically: the invariants that must hold at any time (I1, I2, I3's
 * floor, I10) must hold during faults, too. A check is skipped while a store does not answer, but
 * not for Redis alone where MySQL may decide.
 */
final class AlwaysHolds implements AutoCloseable {

  private static final long PAUSE_MS = 500;

  /**
   * Adds the lengths of all lists atomically, so that an order that moves from one list to another
   * is not counted twice. Also runs while Redis is out of memory. A key that is not a list counts
   * as empty.
   */
  private static final String LENGTHS =
      """
      #!lua flags=no-writes,allow-oom
      local waiting = 0
      for _, list in ipairs(KEYS) do
        if redis.call('TYPE', list).ok == 'list' then
          waiting = waiting + redis.call('LLEN', list)
        end
      end
      return waiting
      """;

  private final PipelineLab lab;
  private final UnifiedJedis redis;
  private final List<SaleOffer> sales;
  private final Set<String> violations = ConcurrentHashMap.newKeySet();
  private final AtomicInteger looks = new AtomicInteger();
  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

  AlwaysHolds(PipelineLab lab, List<SaleOffer> sales) {
    this.lab = lab;
    this.redis = lab.redis();
    this.sales = List.copyOf(sales);
    var unused = thread.scheduleWithFixedDelay(this::look, 0, PAUSE_MS, TimeUnit.MILLISECONDS);
  }

  /** The violations found, each once. */
  Set<String> violations() {
    return violations;
  }

  /** Number of completed checks of all sales in both stores. */
  int looks() {
    return looks.get();
  }

  private void look() {
    try (Connection mysql = lab.database().connect();
        Statement statement = mysql.createStatement()) {
      mysql.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ); // for the snapshot
      for (SaleOffer sale : sales) {
        long waiting = sale.isStrong() ? 0 : waitingIfKnown(sale);
        statement.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        look(statement, sale, waiting);
        statement.execute("COMMIT");
      }
      looks.incrementAndGet();
    } catch (SQLTransactionRollbackException e) {
      return; // a read locks no rows: it has met the LOCK TABLES of a test, and looks again soon
    } catch (SQLException e) {
      note(e, StoreDown.isSaidBy(e));
    } catch (JedisException e) {
      note(e, StoreDown.isSaidBy(e));
    } catch (RuntimeException e) { // an exception would end the schedule
      note(e, false);
    }
  }

  private void note(Exception failure, boolean isStoreDown) {
    if (!isStoreDown) { // by the test's fault
      violations.add("cannot look: " + failure);
    }
  }

  /** 0 while Redis is away and MySQL may decide. */
  private long waitingIfKnown(SaleOffer sale) {
    try {
      return waiting(sale);
    } catch (JedisException e) {
      if (lab.channel().hasFallback() && StoreDown.isSaidBy(e)) {
        return 0;
      }
      throw e;
    }
  }

  /** |O| + |P| of the sale's partitions, which no other sale of the run uses. */
  long waiting(SaleOffer sale) {
    return sale.inRedis().stream().mapToLong(this::waiting).sum();
  }

  private long waiting(long id) {
    String stock = redis.get(RedisKeys.stock(id));
    if (stock != null && stock.startsWith("-")) {
      violations.add("I3: stock of SKU " + id + " in Redis was " + stock);
    }
    int partition = Partition.ofSku(id);
    Set<String> lists = new HashSet<>(SaleReader.privateQueues(redis, partition));
    lists.add(RedisKeys.outbox(partition));
    return (Long) redis.eval(LENGTHS, List.copyOf(lists), List.of());
  }

  private void look(Statement mysql, SaleOffer sale, long waiting) throws SQLException {
    long sku = sale.skuId();
    long initial = sale.stock();
    String ofSale = ofSale(sale);
    long stock = number(mysql, "SELECT SUM(stock) FROM products WHERE " + ofSale);
    String units = "SELECT COALESCE(SUM(quantity), 0) FROM orders WHERE " + ofSale;
    long owned = number(mysql, units + " AND status IN ('CONFIRMED', 'PAID')");
    long returned = number(mysql, units + " AND status NOT IN ('CONFIRMED', 'PAID')");
    check(stock >= 0 && stock == initial - owned, "I1", sku, initial + "-" + owned + "!=" + stock);
    check(
        number(
                mysql,
                "SELECT COUNT(*) FROM products p WHERE "
                    + ofSale
                    + " AND sku_id <> "
                    + sku
                    + " AND stock <> initial_stock - (SELECT COALESCE(SUM(o.quantity), 0)"
                    + " FROM orders o WHERE o.sku_id = p.sku_id"
                    + " AND o.status IN ('CONFIRMED', 'PAID'))")
            == 0,
        "I1",
        sku,
        "a shard in MySQL had other units than it was given and did not sell");
    check(waiting <= initial + returned, "I10", sku, waiting + " orders waited in Redis");
    String totals = OrderTotalSql.wrong(ofSale);
    check(
        number(mysql, "SELECT COUNT(*) FROM (" + totals + ") wrong") == 0,
        "totals",
        sku,
        "a total in MySQL was not that of the rows");
    check(quotasOff(mysql, sale) == 0, "I2", sku, "a quota in MySQL was not what is owned");
  }

  /** SQL: whether a row is of the sale, or of one of its shards. */
  private static String ofSale(SaleOffer sale) {
    return sale.rows().stream()
        .map(String::valueOf)
        .collect(Collectors.joining(", ", "sku_id IN (", ")"));
  }

  private static long quotasOff(Statement mysql, SaleOffer sale) throws SQLException {
    if (!sale.policy().keepsQuota()) {
      return 0;
    }
    return number(
        mysql,
        "SELECT COUNT(*) FROM (SELECT user_id, SUM(counted) counted, SUM(owned) owned FROM ("
            + "SELECT user_id, owned_count counted, 0 owned FROM user_quota WHERE "
            + ofSale(sale)
            + " UNION ALL SELECT user_id, 0, quantity FROM orders"
            + " WHERE status IN ('CONFIRMED', 'PAID') AND "
            + ofSale(sale)
            + ") both_sides GROUP BY user_id HAVING SUM(counted) <> SUM(owned) OR SUM(owned) > "
            + sale.limit()
            + ") off");
  }

  private void check(boolean holds, String invariant, long skuId, String found) {
    if (!holds) {
      violations.add(invariant + ", SKU " + skuId + ": " + found);
    }
  }

  private static long number(Statement mysql, String sql) throws SQLException {
    try (ResultSet rows = mysql.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
