package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.DatabaseSnapshot;
import io.seckill.consumer.loading.DatabaseSnapshots;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.reconciliation.RedisSale.Field;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Reads both stores in the order that a {@link Comparison} needs: MySQL page by page, then Redis
 * some buckets at a time. Memory does not grow with the sale.
 */
@Component
record Comparisons(
    DatabaseSnapshots snapshots, RedisSale redis, RedisServers servers, JdbcClient jdbc) {

  /**
   * A sale in both stores, and the comparison unless Redis has lost the sale.
   *
   * @param isProven whether MySQL showed already before it was read if this Redis server has lost
   *     admissions; one that is proven later may look complete beside the older rows
   */
  record Read(
      ProductSnapshot sale,
      RedisSaleState seen,
      Optional<Comparison> comparison,
      boolean isProven) {

    boolean isLost() {
      return sale.isWanted() && comparison.isEmpty();
    }
  }

  /** The product as MySQL has it now; empty when there is no such product. */
  Optional<ProductSnapshot> sale(long skuId) {
    return snapshots.read(mysql -> mysql.sale(skuId));
  }

  /** Whether MySQL has lost the last preheat; another one may have begun since it was read. */
  boolean isNewerInRedis(Read read) {
    return sale(read.sale().skuId())
        .filter(now -> read.seen().isNewerThan(now.epoch()))
        .isPresent();
  }

  /** Whether a run for the sale would find that Redis has lost it. */
  boolean isLost(long skuId) {
    return sale(skuId)
        .filter(sale -> sale.isWanted() && redis.state(skuId).isLostOf(sale))
        .isPresent();
  }

  /**
   * @param stepEnds called after each page of MySQL and each part of the buckets; may wait
   * @param each called with the comparison after each part of the buckets
   * @return empty when there is no such product
   * @throws ProblemException 409 for a strong sale, which is not in Redis, and for one that MySQL
   *     decides in a fallback; 503 when Redis loses it meanwhile, or it is loaded or archived
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable, or a
   *     TransactionException
   */
  Optional<Read> read(long skuId, Runnable stepEnds, Consumer<Comparison> each) {
    String server = servers.provenServer(Partition.ofSku(skuId));
    return snapshots.read(
        mysql -> mysql.sale(skuId).map(sale -> read(sale, server, mysql, stepEnds, each)));
  }

  /**
   * Reads both without comparing them: the data of a sale in a fallback are to be replaced. Returns
   * empty when there is no such product.
   */
  Optional<Read> ofFallback(long skuId) {
    return sale(skuId).map(sale -> new Read(sale, redis.state(skuId), Optional.empty(), false));
  }

  private Read read(
      ProductSnapshot sale,
      String server,
      DatabaseSnapshot mysql,
      Runnable stepEnds,
      Consumer<Comparison> each) {
    if (!sale.phase().redisDecides()) {
      throw ProblemException.of(
          ProblemCode.REFUSED, "MySQL alone decides this sale: Redis has nothing to compare.");
    }
    RedisSaleState seen = redis.state(sale.skuId());
    Optional<Comparison> comparison =
        seen.isLostOf(sale)
            ? Optional.empty()
            : Optional.of(compare(sale, seen, mysql, stepEnds, each));
    return new Read(sale, seen, comparison, servers.isStill(Partition.ofSku(sale.skuId()), server));
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
    Runnable pageEnds =
        () -> {
          refuseChanged(sale);
          stepEnds.run();
        };
    Candidates candidates = new Candidates(sale, redis, buckets, pageEnds).search(mysql);
    if (candidates.areTooMany()) {
      comparison.leavesOut();
    }
    for (int from = 0, to; from < buckets; from = to + 1) {
      to = RedisSale.lastOfPart(sale, from, buckets);
      RedisPart part = redis.part(sale, from, to);
      Set<OrderId> orders = part.orders();
      orders.addAll(Candidates.of(candidates.orders, from, to));
      Set<Long> users = part.users();
      users.addAll(Candidates.of(candidates.users, from, to));
      comparison.add(mysql.part(sale, orders, users), part);
      refuseChanged(sale);
      each.accept(comparison);
      stepEnds.run();
    }
    return comparison;
  }

  /**
   * Ends the comparison of data that are gone or replaced: all that was read of Redis since would
   * differ, and a rebuild or a return from a fallback needs the lock. MySQL shows a preheat or an
   * archive before Redis loses the first bucket.
   */
  private void refuseChanged(ProductSnapshot sale) {
    boolean isSame =
        ProductRows.find(jdbc, sale.skuId())
            .filter(now -> now.epoch() == sale.epoch() && now.phase().redisDecides())
            .isPresent();
    if (!isSame || redis.state(sale.skuId()).isLostOf(sale)) {
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE,
          "Redis has lost the sale meanwhile, or it is loaded, archived or in a fallback now: run"
              + " again.");
    }
  }

  /**
   * The orders and quotas of a sale that MySQL has and Redis seems to lack: one ordered pass over
   * MySQL, which asks Redis for each page. The comparison of the buckets then reads these from
   * MySQL as well as those in Redis, so neither store is ever held in memory as a whole. For one
   * thread.
   */
  private static final class Candidates {

    private final ProductSnapshot sale;
    private final RedisSale redis;
    private final int buckets;
    private final Runnable stepEnds;
    private final Map<Integer, Set<OrderId>> orders = new HashMap<>();
    private final Map<Integer, Set<Long>> users = new HashMap<>();
    private int found;

    /**
     * @param buckets of the sale in Redis
     */
    Candidates(ProductSnapshot sale, RedisSale redis, int buckets, Runnable stepEnds) {
      this.sale = sale;
      this.redis = redis;
      this.buckets = buckets;
      this.stepEnds = stepEnds;
    }

    Candidates search(DatabaseSnapshot mysql) {
      mysql.stored().pages(sale.skuId(), this::searchOrders);
      if (sale.policy().keepsQuota()) {
        mysql.quotas(sale.skuId(), this::searchQuotas);
      }
      return this;
    }

    private void searchOrders(Map<OrderId, AdmissionRecord> page) {
      Map<Field, OrderId> fields = new LinkedHashMap<>();
      page.forEach(
          (id, order) -> {
            if (order.status().hasEnded()) {
              return; // Redis may have forgotten it
            }
            fields.put(field(order.userId(), id.toString()), id);
            String request = RedisSale.request(order);
            if (request != null) {
              fields.put(field(order.userId(), request), id);
            }
          });
      collect(fields, orders);
    }

    private void searchQuotas(Map<Long, Long> page) {
      Map<Field, Long> fields = new LinkedHashMap<>();
      page.keySet().forEach(user -> fields.put(field(user, RedisKeys.quotaField(user)), user));
      collect(fields, users);
    }

    private Field field(long userId, String name) {
      return new Field(RedisKeys.bucketOf(userId, buckets), name);
    }

    /** Collects the fields that Redis lacks, until there are too many. */
    private <T> void collect(Map<Field, T> fields, Map<Integer, Set<T>> into) {
      if (!areTooMany()) {
        Set<Field> absent = redis.absent(sale.skuId(), fields.keySet());
        for (Field field : absent) {
          into.computeIfAbsent(field.bucket(), bucket -> new HashSet<>()).add(fields.get(field));
        }
        found += absent.size();
      }
      stepEnds.run();
    }

    /** Whether there may be others. */
    boolean areTooMany() {
      return found >= Comparison.MOST_FINDINGS;
    }

    /** Those of these buckets. */
    static <T> Set<T> of(Map<Integer, Set<T>> byBucket, int from, int to) {
      return IntStream.rangeClosed(from, to)
          .mapToObj(bucket -> byBucket.getOrDefault(bucket, Set.of()))
          .flatMap(Set::stream)
          .collect(Collectors.toSet());
    }
  }
}
