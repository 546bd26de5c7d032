package io.seckill.consumer.reconciliation;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.loading.DatabaseSnapshot;
import io.seckill.consumer.loading.DatabaseSnapshots;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Reads both stores in the order that a {@link Comparison} needs: MySQL page by page, then Redis
 * some buckets at a time. Memory does not grow with the sale.
 */
@Component
record Comparisons(DatabaseSnapshots snapshots, RedisSale redis) {

  /** Some 7,000 units at a time, fewer than the findings that a comparison keeps. */
  private static final int BUCKETS_AT_ONCE = 256;

  /** A sale in both stores, and the comparison unless Redis has lost the sale. */
  record Read(ProductSnapshot sale, RedisSaleState seen, Optional<Comparison> comparison) {

    boolean isLost() {
      return sale.isWanted() && comparison.isEmpty();
    }
  }

  /** The product as MySQL has it now; empty when there is no such product. */
  Optional<ProductSnapshot> sale(long skuId) {
    return snapshots.read(mysql -> mysql.sale(skuId));
  }

  /**
   * @param stepEnds called after each page of MySQL and each part of the buckets; may wait
   * @param each called with the comparison after each part of the buckets
   * @return empty when there is no such product
   * @throws ProblemException 409 for a strong sale, which is not in Redis, and for one that MySQL
   *     decides in a fallback
   * @throws DataAccessException when MySQL is unavailable
   * @throws TransactionException as well
   */
  Optional<Read> read(long skuId, Runnable stepEnds, Consumer<Comparison> each) {
    return snapshots.read(
        mysql -> mysql.sale(skuId).map(sale -> read(sale, mysql, stepEnds, each)));
  }

  /**
   * Reads both without comparing them: the data of a sale in a fallback are to be replaced.
   *
   * @return empty when there is no such product
   */
  Optional<Read> ofFallback(long skuId) {
    return sale(skuId).map(sale -> new Read(sale, redis.state(skuId), Optional.empty()));
  }

  private Read read(
      ProductSnapshot sale, DatabaseSnapshot mysql, Runnable stepEnds, Consumer<Comparison> each) {
    if (!sale.phase().redisDecides()) {
      throw ProblemException.of(
          ProblemCode.REFUSED, "MySQL alone decides this sale: Redis has nothing to compare.");
    }
    RedisSaleState seen = redis.state(sale.skuId());
    return seen.isLostOf(sale)
        ? new Read(sale, seen, Optional.empty())
        : new Read(sale, seen, Optional.of(compare(sale, seen, mysql, stepEnds, each)));
  }

  private Comparison compare(
      ProductSnapshot sale,
      RedisSaleState seen,
      DatabaseSnapshot mysql,
      Runnable stepEnds,
      Consumer<Comparison> each) {
    Comparison comparison =
        new Comparison(
            sale,
            seen,
            mysql.now(),
            mysql.decided(sale.skuId()),
            mysql.changes(sale),
            redis.changes(sale.skuId(), sale.epoch()));
    int buckets = seen.bucketCount();
    Candidates candidates = new Candidates(sale, redis, buckets, stepEnds).search(mysql);
    if (candidates.areTooMany()) {
      comparison.leavesOut();
    }
    for (int from = 0; from < buckets; from += BUCKETS_AT_ONCE) {
      int to = Math.min(buckets, from + BUCKETS_AT_ONCE) - 1;
      RedisPart part = redis.part(sale.skuId(), from, to);
      Set<OrderId> orders = part.orders();
      orders.addAll(candidates.orders(from, to));
      Set<Long> users = part.users();
      users.addAll(candidates.users(from, to));
      comparison.add(mysql.part(sale, orders, users), part);
      each.accept(comparison);
      stepEnds.run();
    }
    return comparison;
  }
}
