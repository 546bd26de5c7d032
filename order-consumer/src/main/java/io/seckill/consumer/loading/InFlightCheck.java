package io.seckill.consumer.loading;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.products.ReplicationId;
import io.seckill.consumer.storage.Barriers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Counts the orders and units in flight between Redis and MySQL for one SKU. Its answers hold while
 * the product row is locked and the sale is not running, so that nothing new is admitted or settled
 * meanwhile.
 */
@Component
record InFlightCheck(JdbcClient jdbc, UnifiedJedis redis, RedisListScan lists, Barriers barriers) {

  /** Together with the caller's other work, shorter than the gateway's time-out for a preheat. */
  private static final Duration BARRIER_TIMEOUT = Duration.ofSeconds(3);

  /**
   * The orders and units that prevent a new epoch.
   *
   * @param orders admitted and not settled, at least 0
   * @param compensations orders that ended and whose units are not yet returned to Redis
   */
  record Count(long orders, long compensations, long deadLetters) {

    boolean isNone() {
      return orders == 0 && compensations == 0 && deadLetters == 0;
    }

    @Override
    public String toString() {
      return orders
          + " orders not settled, "
          + compensations
          + " compensations pending, "
          + deadLetters
          + " dead letters open";
    }
  }

  /**
   * Counts orders and compensations only when Redis holds exactly this epoch. An older epoch was
   * proven to have nothing in flight when it was superseded, and a preheat that reached MySQL but
   * not Redis must be repeatable. When Redis does not have the sale, there is nothing to which
   * compensations could be applied either. A wrong number in Redis counts no orders.
   *
   * @param seen the sale in Redis, read after the product
   */
  Count of(Product product, RedisSaleState seen) {
    long skuId = product.skuId();
    boolean sameEpoch = seen.epoch() == product.epoch();
    boolean counted = sameEpoch && !seen.isTooFarAhead(seq(product));
    long orders = counted ? Math.max(0, seen.seq() - product.settled()) : 0;
    return new Count(orders, sameEpoch ? pendingCompensations(skuId) : 0, openDeadLetters(skuId));
  }

  /**
   * Whether Redis does not show the orders in flight: shoppers could buy since the last preheat,
   * and Redis holds another epoch than MySQL, or a lower number of orders or changes, or a wrong
   * one, or may lack orders that the broker still has.
   *
   * @param seen as in {@link #of}; the server is compared afterwards
   */
  boolean isUnknownOf(Product product, RedisSaleState seen) {
    if (product.state() != SaleState.CLOSED) {
      return false;
    }
    long seq = seq(product);
    return seen.isBehind(product.epoch(), seq, product.changeSeq())
        || seen.isTooFarAhead(seq)
        || !isProvenServerOf(product.skuId());
  }

  private static long seq(Product product) {
    return Math.max(product.settled(), product.lastSeq());
  }

  private boolean isProvenServerOf(long skuId) {
    String proven = ExpectedSale.find(jdbc, List.of(skuId)).get(0).server();
    List<String> keys = ReplicationId.keys(Partition.ofSku(skuId));
    return proven.isEmpty() || proven.equals(ReplicationId.SCRIPT.call(redis, keys, List.of()));
  }

  /**
   * Proves, without the counters of Redis, that no order of a closed sale is in flight: first no
   * list in Redis has one, and then a barrier passes behind every message that the broker has.
   * Waits for orders to be settled, so the product row must not be locked. Returns false when
   * orders are in flight, or the proof did not succeed in time.
   */
  boolean isProvenNone(long skuId) {
    return lists.hasNone(skuId) && barriers.pass(Partition.ofSku(skuId), BARRIER_TIMEOUT);
  }

  private long pendingCompensations(long skuId) {
    return count(
        "SELECT COUNT(*) FROM compensation WHERE done_at IS NULL AND sku_id = :sku", skuId);
  }

  private long openDeadLetters(long skuId) {
    return count("SELECT COUNT(*) FROM dead_letter WHERE state = 'OPEN' AND sku_id = :sku", skuId);
  }

  private long count(String sql, long skuId) {
    return jdbc.sql(sql).params(Map.of("sku", skuId)).query(Long.class).single();
  }
}
