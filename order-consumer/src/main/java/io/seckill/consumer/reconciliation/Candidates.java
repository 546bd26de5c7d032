package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.DatabaseSnapshot;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.reconciliation.RedisSale.Field;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The orders and quotas of a sale that MySQL has and Redis seems to lack: one ordered pass over
 * MySQL, which asks Redis for each page. The comparison of the buckets then reads these from MySQL
 * as well as those in Redis, so neither store is ever held in memory as a whole. For one thread.
 */
final class Candidates {

  private final ProductSnapshot sale;
  private final RedisSale redis;
  private final int buckets;
  private final Runnable stepEnds;
  private final Map<Integer, Set<OrderId>> orders = new HashMap<>();
  private final Map<Integer, Set<Long>> users = new HashMap<>();
  private int found;

  /**
   * @param buckets of the sale in Redis
   * @param stepEnds called after each page
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

  /** Orders of these buckets. */
  Set<OrderId> orders(int from, int to) {
    return of(orders, from, to);
  }

  /** Users of these buckets with a quota. */
  Set<Long> users(int from, int to) {
    return of(users, from, to);
  }

  private static <T> Set<T> of(Map<Integer, Set<T>> byBucket, int from, int to) {
    return IntStream.rangeClosed(from, to)
        .mapToObj(bucket -> byBucket.getOrDefault(bucket, Set.of()))
        .flatMap(Set::stream)
        .collect(Collectors.toSet());
  }
}
