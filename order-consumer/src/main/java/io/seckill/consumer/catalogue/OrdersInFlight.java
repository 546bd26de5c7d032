package io.seckill.consumer.catalogue;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.barrier.Barriers;
import io.seckill.consumer.reconciliation.InFlightOrders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Counts what is still on its way between Redis and MySQL for one SKU. Ask it while the product row
 * is locked and the sale is not running, so that nothing new is admitted or settled meanwhile.
 */
@Component
class OrdersInFlight {

  /** With what a caller does before and after, less than the gateway waits for a preheat. */
  private static final Duration BARRIER_TIMEOUT = Duration.ofSeconds(3);

  private final JdbcClient jdbc;
  private final UnifiedJedis redis;
  private final InFlightOrders onTheWay;
  private final Barriers barriers;

  OrdersInFlight(JdbcClient jdbc, UnifiedJedis redis, InFlightOrders onTheWay, Barriers barriers) {
    this.jdbc = jdbc;
    this.redis = redis;
    this.onTheWay = onTheWay;
    this.barriers = barriers;
  }

  /**
   * What stands in the way of a new epoch.
   *
   * @param orders admitted and not settled, at least 0
   * @param compensations units owed to Redis by orders that ended, in orders
   * @param deadLetters waiting for an operator
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
   * Redis counts only when it holds this very epoch. Data of an older one was proven quiet when it
   * was superseded, and a preheat that got no further than MySQL must be able to be repeated; when
   * Redis has nothing, there is nothing that compensations could go to either.
   *
   * @param settled orders of the SKU settled in MySQL, in the sequence Redis counts in
   */
  Count of(long skuId, long epoch, long settled) {
    List<@Nullable String> sale = redis.hmget(RedisKeys.sku(skuId), "epoch", "seq");
    boolean sameEpoch = Long.toString(epoch).equals(sale.get(0));
    String seq = sale.get(1);
    long orders = sameEpoch && seq != null ? Math.max(0, Long.parseLong(seq) - settled) : 0;
    return new Count(orders, sameEpoch ? pendingCompensations(skuId) : 0, openDeadLetters(skuId));
  }

  /**
   * Whether Redis cannot say what is on its way: shoppers could buy since the last preheat, and it
   * does not hold that epoch, or less of it than MySQL has.
   */
  boolean isUnknownOf(Product product) {
    if (product.state() != SaleState.CLOSED) {
      return false;
    }
    List<@Nullable String> sale = redis.hmget(RedisKeys.sku(product.skuId()), "epoch", "seq");
    String seq = sale.get(1);
    return !Long.toString(product.epoch()).equals(sale.get(0))
        || seq == null
        || Long.parseLong(seq) < Math.max(product.settled(), product.lastSeq());
  }

  /**
   * Proves without Redis's counters that no order of a closed sale is on its way: none in its
   * lists, and then a barrier behind all that the broker has. Waits for orders to be settled, so
   * the product row must not be locked.
   *
   * @return false when there are some, or it could not be proven in time
   */
  boolean isProvenNone(long skuId) {
    return onTheWay.of(skuId).isEmpty() && barriers.pass(Partition.ofSku(skuId), BARRIER_TIMEOUT);
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
