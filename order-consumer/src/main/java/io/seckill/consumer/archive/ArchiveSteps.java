package io.seckill.consumer.archive;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

/**
 * The steps of an archive. Each moves or deletes one page of rows in one transaction, which also
 * checks the phase and keeps the progress: a step that is repeated, or done by two processes,
 * touches no row twice.
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
          "DELETE o FROM " + moved(" STRAIGHT_JOIN orders o ON o.order_id = h.order_id"));

  private static final List<String> PURGE =
      List.of(
          "DELETE p FROM " + moved(" STRAIGHT_JOIN payment_history p ON p.order_id = h.order_id"),
          "DELETE a FROM "
              + moved(" STRAIGHT_JOIN order_alias_history a ON a.stored_order_id = h.order_id"),
          "DELETE h FROM " + moved(""));

  private static final List<String> REST =
      List.of(
          "DELETE FROM user_quota WHERE sku_id = ? LIMIT " + ROWS,
          "DELETE FROM compensation WHERE sku_id = ? LIMIT " + ROWS,
          "DELETE FROM admitted_units WHERE sku_id = ? LIMIT " + ROWS);

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
   * Moves a page of orders; returns its orders, 0 when none was left and the phase is over.
   *
   * @throws IllegalStateException while the provider may still book or refund a payment of the page
   */
  int moveOrders(long sku) {
    return inPhase(
        sku,
        ArchivePhase.ORDERS,
        () -> {
          Page page = page("orders FORCE INDEX (ix_orders_sku)", sku);
          if (page != null) {
            requireSettled(sku, page);
            execute(MOVE, sku, page);
            table.moved(sku, page.orders());
          }
          return page == null ? 0 : page.orders();
        });
  }

  /** Deletes a page of rows of no further use; returns their number, 0 when the phase is over. */
  int deleteRest(long sku) {
    return inPhase(
        sku,
        ArchivePhase.REST,
        () -> {
          int deleted =
              REST.stream()
                  .mapToInt(statement -> jdbc.sql(statement).param(sku).update())
                  .filter(rows -> rows > 0)
                  .findFirst()
                  .orElse(0);
          if (deleted > 0) {
            table.moved(sku, 0);
          }
          return deleted;
        });
  }

  /** Deletes a page of the history; returns its orders, 0 when the phase is over. */
  int purge(long sku) {
    return inPhase(
        sku,
        ArchivePhase.DONE,
        () -> {
          Page page = page("order_history FORCE INDEX (ix_order_history_sku)", sku);
          if (page != null) {
            execute(PURGE, sku, page);
            table.moved(sku, 0);
          }
          return page == null ? 0 : page.orders();
        });
  }

  /** The first orders of a sale, by their first and last id. */
  private record Page(int orders, long first, long last) {

    Map<String, Long> params(long sku) {
      return Map.of("sku", sku, "first", first, "last", last);
    }
  }

  /** Locks the orders: a transaction that pays for one, or ends it, locks it first. */
  private @Nullable Page page(String from, long sku) {
    List<Long> ids =
        jdbc.sql(
                "SELECT order_id FROM "
                    + from
                    + " WHERE sku_id = ? ORDER BY order_id LIMIT "
                    + ORDERS
                    + " FOR UPDATE")
            .param(sku)
            .query(Long.class)
            .list();
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
  private int inPhase(long sku, ArchivePhase phase, IntSupplier work) {
    return transactions.execute(
        tx -> {
          if (table.lock(sku).filter(archive -> archive.phase() == phase).isEmpty()) {
            return 0;
          }
          int rows = work.getAsInt();
          if (rows == 0) {
            table.end(sku, phase);
          }
          return rows;
        });
  }
}
