package io.seckill.consumer.archive;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.ledger.Ledgers;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.storage.Barriers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Finds the reasons why a sale is not at rest. A sale at rest has ended every order, has nothing in
 * any list or queue, nothing pending, and adds up: then no row of it changes any more.
 */
@Component
record SaleRest(JdbcClient jdbc, Ledgers ledgers, RedisListScan lists, Barriers barriers) {

  /** Shorter than the gateway's time-out for an archive. */
  private static final Duration BARRIER_TIMEOUT = Duration.ofSeconds(30);

  /** Work in MySQL that may still change a sale; each statement reads that work only. */
  private enum UnfinishedWork {
    PAYMENTS(
        "payments that the provider may still book",
        "SELECT COUNT(*) FROM payment p FORCE INDEX (ix_payment_check)"
            + " STRAIGHT_JOIN orders o ON o.order_id = p.order_id"
            + " WHERE p.check_at IS NOT NULL AND o.sku_id = ?"),
    CHARGES(
        "open unexplained charges",
        "SELECT COUNT(*) FROM unexplained_charge u STRAIGHT_JOIN orders o"
            + " ON o.order_id = u.order_id WHERE u.state = 'OPEN' AND o.sku_id = ?"),
    DEAD_LETTERS(
        "open dead letters",
        "SELECT COUNT(*) FROM dead_letter WHERE state = 'OPEN' AND sku_id = ?"),
    COMPENSATIONS(
        "compensations that Redis has not confirmed",
        "SELECT COUNT(*) FROM compensation FORCE INDEX (ix_compensation_pending)"
            + " WHERE done_at IS NULL AND sku_id = ?"),
    STOCK_CHANGES(
        "unfinished stock changes",
        "SELECT COUNT(*) FROM stock_change"
            + " WHERE state IN ('PENDING', 'MYSQL_DONE', 'UNDOING') AND sku_id = ?"),
    DIFFERENCES(
        "differences that its last audit has found",
        "SELECT COALESCE(SUM(differences), 0) FROM (SELECT differences FROM daily_audit"
            + " WHERE sku_id = ? ORDER BY day DESC LIMIT 1) latest");

    private final String text;
    private final String statement;

    UnfinishedWork(String text, String statement) {
      this.text = text;
      this.statement = statement;
    }
  }

  /**
   * The reasons in the row of a product, as it is or is locked, against its archive, for operators;
   * empty for none.
   */
  static List<String> obstacles(ProductSnapshot sale) {
    List<String> found = new ArrayList<>();
    if (!sale.state().equals("CLOSED")) {
      found.add("it is " + sale.state() + ", not CLOSED");
    }
    if (sale.phase().isInFallback()) {
      found.add("a fallback has not ended");
    }
    return found;
  }

  /**
   * The reasons why a SKU and its shards are not at rest, for operators; empty when all are.
   *
   * @param rows of the products, the SKU's own row first
   * @throws redis.clients.jedis.exceptions.JedisException when Redis is unavailable and the sale is
   *     not a strong one
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable
   */
  List<String> missing(List<ProductSnapshot> rows) {
    List<String> found = new ArrayList<>(obstacles(rows.get(0)));
    if (!found.isEmpty()) {
      return found; // the shards are in the same state
    }
    for (ProductSnapshot row : rows) {
      unfinished(row).forEach(reason -> found.add(named(row, reason)));
    }
    if (found.isEmpty()) {
      inFlight(rows.stream().filter(row -> row.phase().redisDecides()).toList())
          .ifPresent(row -> found.add(named(row, "messages of it may still be on their way")));
    }
    return found;
  }

  /**
   * One of these sales whose messages may still be on their way; empty for none. After all lists
   * have been read, one barrier for each order queue is behind the messages of all.
   */
  Optional<ProductSnapshot> inFlight(List<ProductSnapshot> sales) {
    Set<String> queues = new HashSet<>();
    return Stream.concat(
            sales.stream().filter(sale -> !lists.hasNone(sale.skuId())),
            sales.stream().filter(sale -> queues.add(queue(sale)) && !hasPassed(sale.skuId())))
        .findFirst();
  }

  private static String queue(ProductSnapshot sale) {
    return BrokerTopology.routingKey(Partition.ofSku(sale.skuId()));
  }

  private boolean hasPassed(long sku) {
    return barriers.pass(Partition.ofSku(sku), BARRIER_TIMEOUT);
  }

  private static String named(ProductSnapshot row, String reason) {
    long id = row.skuId();
    return Shards.isShard(id) ? "shard %d: %s".formatted(Shards.shard(id), reason) : reason;
  }

  private List<String> unfinished(ProductSnapshot sale) {
    List<String> found = new ArrayList<>(obstacles(sale));
    if (!found.isEmpty()) {
      return found;
    }
    found.addAll(ledgers.waiting(sale.skuId()));
    for (UnfinishedWork work : UnfinishedWork.values()) {
      long number = jdbc.sql(work.statement).param(sale.skuId()).query(Long.class).single();
      if (number > 0) {
        found.add(number + " " + work.text);
      }
    }
    return found;
  }

  /**
   * Whether every message of the sale that was ever published has come to its end. Takes as long as
   * the queue needs, 30 s at most.
   */
  boolean hasNothingInFlight(long sku) {
    return lists.hasNone(sku) && hasPassed(sku);
  }
}
