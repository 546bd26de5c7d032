package io.seckill.consumer.archive;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

/**
 * The steps of an archive. Each moves or deletes one page of rows in one transaction, which also
 * checks the phase and keeps the progress: a step that is repeated, or done by two processes,
 * touches no row twice. A page begins after the one before it in the same run: the index may still
 * have the entries of all that were deleted, while a long transaction reads.
 */
@Component
record ArchiveSteps(
    JdbcClient jdbc, UnifiedJedis redis, ArchiveTable table, TransactionOperations transactions) {

  /** Orders of a page; with their payments and aliases at most 5,000 rows of a usual sale. */
  private static final int ORDERS = 2_000;

  /** Rows of a page that is only deleted. */
  private static final int ROWS = 5_000;

  private static final int BUCKETS_AT_ONCE = 256;

  private static final String ORDER_COLUMNS =
      "order_id, user_id, sku_id, quantity, unit_price_cents, request_id, status, reason, epoch,"
          + " seq, admitted_at, created_at, updated_at";

  private static final String PAYMENT_COLUMNS =
      "p.order_id, p.amount_cents, p.state, p.charge_id, p.created_at, p.updated_at";

  /** A charge that is reported during the archive makes a refund due; the history has no checks. */
  private static final String UNSETTLED_PAYMENTS =
      "SELECT COUNT(*) FROM orders o FORCE INDEX (ix_orders_sku)"
          + " STRAIGHT_JOIN payment p ON p.order_id = o.order_id"
          + " WHERE o.sku_id = :sku AND o.order_id BETWEEN :first AND :last"
          + " AND p.check_at IS NOT NULL";

  private static final String AFTER =
      " WHERE sku_id = ? AND order_id > ? ORDER BY order_id LIMIT " + ORDERS + " FOR UPDATE";

  private static final String STORED =
      "SELECT order_id FROM orders FORCE INDEX (ix_orders_sku)" + AFTER;

  private static final String HISTORY =
      "SELECT order_id FROM order_history FORCE INDEX (ix_order_history_sku)" + AFTER;

  private static final String QUOTAS =
      "SELECT user_id FROM user_quota FORCE INDEX (PRIMARY)"
          + " WHERE sku_id = ? AND user_id > ? ORDER BY user_id LIMIT "
          + ROWS
          + " FOR UPDATE";

  private static final String DELETE_QUOTAS =
      "DELETE q FROM user_quota q FORCE INDEX (PRIMARY)"
          + " WHERE q.sku_id = :sku AND q.user_id BETWEEN :first AND :last";

  /** In place of the last user of a page, when no quota is left. */
  private static final long NO_QUOTA = Long.MAX_VALUE;

  /** The orders of a page that are in the history; with its index, else MySQL may read it all. */
  private static final String MOVED =
      "order_history h FORCE INDEX (ix_order_history_sku)%s"
          + " WHERE h.sku_id = :sku AND h.order_id BETWEEN :first AND :last";

  /**
   * The rows to delete are joined to the copied rows: a row that is inserted in between is neither
   * copied nor deleted.
   */
  private static final List<String> MOVE =
      List.of(
          "INSERT INTO order_history SELECT "
              + ORDER_COLUMNS
              + " FROM orders FORCE INDEX (ix_orders_sku)"
              + " WHERE sku_id = :sku AND order_id BETWEEN :first AND :last",
          "INSERT INTO payment_history SELECT "
              + PAYMENT_COLUMNS
              + " FROM "
              + moved(" STRAIGHT_JOIN payment p ON p.order_id = h.order_id"),
          "DELETE p FROM "
              + moved(
                  " STRAIGHT_JOIN payment_history x ON x.order_id = h.order_id"
                      + " STRAIGHT_JOIN payment p ON p.order_id = x.order_id"),
          "INSERT INTO order_alias_history SELECT a.order_id, a.stored_order_id, a.created_at FROM "
              + moved(" STRAIGHT_JOIN order_alias a ON a.stored_order_id = h.order_id"),
          "DELETE a FROM "
              + moved(
                  " STRAIGHT_JOIN order_alias_history x ON x.stored_order_id = h.order_id"
                      + " STRAIGHT_JOIN order_alias a ON a.order_id = x.order_id"),
          "DELETE c FROM " + moved(" STRAIGHT_JOIN compensation c ON c.order_id = h.order_id"),
          "DELETE o FROM " + moved(" STRAIGHT_JOIN orders o ON o.order_id = h.order_id"));

  private static final List<String> PURGE =
      List.of(
          "DELETE p FROM " + moved(" STRAIGHT_JOIN payment_history p ON p.order_id = h.order_id"),
          "DELETE a FROM "
              + moved(" STRAIGHT_JOIN order_alias_history a ON a.stored_order_id = h.order_id"),
          "DELETE h FROM " + moved(""));

  /** What is left, a few rows: moves of units of a shard, and compensations of aliases. */
  private static final List<String> REST =
      List.of(
          "DELETE FROM admitted_units WHERE sku_id = ? LIMIT " + ROWS,
          "DELETE FROM stock_change WHERE sku_id = ? AND sku_id >= "
              + Shards.FIRST_ID
              + " LIMIT "
              + ROWS,
          "DELETE FROM compensation WHERE sku_id = ? LIMIT " + ROWS);

  /** The rules go last: they have the number of buckets, so a repeat finds the rest. */
  void removeFromRedis(ProductSnapshot sale) {
    long sku = sale.skuId();
    RedisSaleState rules = RedisSaleState.readRules(redis, sku);
    int count = rules.bucketCount();
    if (count < 1 && !rules.text("bucketCount").isEmpty()) {
      throw new IllegalStateException("Redis has no number of buckets of sku " + sku);
    }
    for (int from = 0; from < count; from += BUCKETS_AT_ONCE) {
      redis.unlink(
          IntStream.range(from, Math.min(count, from + BUCKETS_AT_ONCE))
              .mapToObj(bucket -> RedisKeys.bucket(sku, bucket))
              .toArray(String[]::new));
    }
    redis.srem(RedisKeys.skus(Partition.ofSku(sku)), Long.toString(sku));
    redis.unlink(RedisKeys.stock(sku), RedisKeys.stockChanges(sku), RedisKeys.sku(sku));
  }

  private static String moved(String joined) {
    return MOVED.formatted(joined);
  }

  /**
   * Moves a page of orders.
   *
   * @param after the last order of the page before, 0 for the first page
   * @return the last order of the page; 0 when none was left and the phase is over
   * @throws IllegalStateException while the provider may still book or refund a payment of the page
   */
  long moveOrders(long sku, long after) {
    return inPhase(
        sku,
        ArchivePhase.ORDERS,
        () -> {
          Page page = page(STORED, sku, after);
          if (page != null) {
            requireSettled(sku, page);
            execute(MOVE, sku, page);
            table.moved(sku, page.rows());
          }
          return page == null ? 0 : page.last();
        });
  }

  /**
   * Deletes a page of rows of no further use.
   *
   * @param after as this returned for the page before, 0 for the first page
   * @return 0 when the phase is over
   */
  long deleteRest(long sku, long after) {
    return inPhase(
        sku,
        ArchivePhase.REST,
        () -> {
          Page quotas = page(QUOTAS, sku, after);
          if (quotas != null) {
            execute(List.of(DELETE_QUOTAS), sku, quotas);
            table.moved(sku, 0);
            return quotas.last();
          }
          if (hasDeletedRest(sku)) {
            table.moved(sku, 0);
            return NO_QUOTA;
          }
          return 0;
        });
  }

  private boolean hasDeletedRest(long sku) {
    return REST.stream().anyMatch(statement -> jdbc.sql(statement).param(sku).update() > 0);
  }

  /** Deletes a page of the history; parameter and result are as those of {@link #moveOrders}. */
  long purge(long sku, long after) {
    return inPhase(
        sku,
        ArchivePhase.DONE,
        () -> {
          Page page = page(HISTORY, sku, after);
          if (page != null) {
            execute(PURGE, sku, page);
            table.moved(sku, 0);
          }
          return page == null ? 0 : page.last();
        });
  }

  /** Rows of a sale, by the first and the last of their keys. */
  private record Page(int rows, long first, long last) {

    Map<String, Long> params(long sku) {
      return Map.of("sku", sku, "first", first, "last", last);
    }
  }

  /** Locks the rows: a transaction that pays for an order, or ends it, locks it first. */
  private @Nullable Page page(String select, long sku, long after) {
    List<Long> ids = jdbc.sql(select).params(sku, after).query(Long.class).list();
    return ids.isEmpty() ? null : new Page(ids.size(), ids.get(0), ids.get(ids.size() - 1));
  }

  /** While the orders are locked no payment of them becomes due. */
  private void requireSettled(long sku, Page page) {
    long unsettled =
        jdbc.sql(UNSETTLED_PAYMENTS).params(page.params(sku)).query(Long.class).single();
    if (unsettled > 0) {
      throw new IllegalStateException(
          unsettled + " payments of the next page may still be booked or refunded");
    }
  }

  private void execute(List<String> statements, long sku, Page page) {
    statements.forEach(statement -> jdbc.sql(statement).params(page.params(sku)).update());
  }

  /** Ends the phase when the work finds nothing; 0 also in any other phase. */
  private long inPhase(long sku, ArchivePhase phase, LongSupplier work) {
    return transactions.execute(
        tx -> {
          if (table.lock(sku).filter(archive -> archive.phase() == phase).isEmpty()) {
            return 0L;
          }
          long last = work.getAsLong();
          if (last == 0) {
            table.end(sku, phase);
          }
          return last;
        });
  }
}
