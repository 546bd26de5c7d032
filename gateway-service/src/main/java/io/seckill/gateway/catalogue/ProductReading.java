package io.seckill.gateway.catalogue;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.support.contract.ProductRow;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One read of the products.
 *
 * @param atNanos System.nanoTime() when the read began
 * @param bySku the products; of a SKU with shards also these, by their ids
 * @param shards number of shards of the SKUs that have more than one, from their first preheat
 * @param withDeadLetters SKUs of orders that are open dead letters
 * @param ofMySql SKUs whose purchases MySQL decides
 * @param redisHasSales whether Redis may have the data of any sale
 * @param term of the last fallback that has begun
 * @param inFallback whether it has not ended
 */
record ProductReading(
    long atNanos,
    Map<Long, ProductRow> bySku,
    Map<Long, Integer> shards,
    Set<Long> withDeadLetters,
    Set<Long> ofMySql,
    boolean redisHasSales,
    long term,
    boolean inFallback) {

  /** Two reads. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  /**
   * A sale continues without MySQL, and so does its page. The rest, whether the sale runs and
   * whether units are left, is read from Redis.
   */
  private static final Duration LONGEST_AGE = Duration.ofMinutes(5);

  private boolean isYoungerThan(Duration age) {
    return System.nanoTime() - atNanos <= age.toNanos();
  }

  boolean isUsable() {
    return isYoungerThan(LONGEST_AGE);
  }

  /** The products without shards. */
  Collection<ProductRow> skus() {
    return shards.isEmpty()
        ? bySku.values()
        : bySku.values().stream().filter(one -> !Shards.isShard(one.skuId())).toList();
  }

  int shards(long skuId) {
    return shards.isEmpty() ? 1 : shards.getOrDefault(skuId, 1);
  }

  Decider decides(long skuId) {
    return !ofMySql.isEmpty() && ofMySql.contains(skuId) ? Decider.MYSQL : Decider.REDIS;
  }

  boolean isOfRedis(long skuId, long inTerm) {
    return isYoungerThan(FRESH) && term == inTerm && !ofMySql.contains(skuId);
  }

  @Nullable ProductRow fresh(long skuId) {
    return isYoungerThan(FRESH) ? bySku.get(skuId) : null;
  }

  boolean mayHaveStored(long skuId, long seq) {
    ProductRow product = bySku.get(skuId);
    return !isYoungerThan(FRESH)
        || product == null
        || seq <= product.lastSeq()
        || withDeadLetters.contains(skuId);
  }
}
