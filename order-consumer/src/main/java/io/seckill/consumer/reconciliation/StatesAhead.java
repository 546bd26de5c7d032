package io.seckill.consumer.reconciliation;

import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.Sql;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Reads the states of sales in Redis for a loop over them, a page of them in one round trip. For
 * one thread.
 */
final class StatesAhead {

  static final int PAGE = 100;

  /** The loop may work on one sale for minutes. */
  static final Duration FRESH = Duration.ofSeconds(1);

  private final RedisSale redis;
  private final LongSupplier nanoTime;
  private final Map<Long, List<Long>> pageOf = new HashMap<>();
  private Map<Long, RedisSaleState> read = Map.of();
  private List<Long> readPage = List.of();
  private long readNanos;

  /**
   * @param sales in the order of the loop
   * @param together whether one server has all; else each is read alone, by a call that follows a
   *     primary of the cluster that has moved
   */
  StatesAhead(RedisSale redis, List<ProductSnapshot> sales, boolean together) {
    this(
        redis,
        together ? sales.stream().map(ProductSnapshot::skuId).toList() : List.of(),
        System::nanoTime);
  }

  /**
   * @param skus to be read together, in the order of the loop
   */
  StatesAhead(RedisSale redis, List<Long> skus, LongSupplier nanoTime) {
    this.redis = redis;
    this.nanoTime = nanoTime;
    Sql.chunks(skus, PAGE).forEach(page -> page.forEach(sku -> pageOf.put(sku, page)));
  }

  /**
   * The state of a sale, at most a second old.
   *
   * @throws JedisException when it cannot be read
   */
  RedisSaleState of(long sku) {
    List<Long> page = pageOf.getOrDefault(sku, List.of());
    if (!page.isEmpty() && (!page.equals(readPage) || isOld())) {
      readNanos = nanoTime.getAsLong();
      readPage = List.of(); // also when this fails
      read = redis.states(page);
      readPage = page;
    }
    RedisSaleState state = read.get(sku);
    return state == null ? redis.state(sku) : state;
  }

  private boolean isOld() {
    return nanoTime.getAsLong() - readNanos >= FRESH.toNanos();
  }
}
