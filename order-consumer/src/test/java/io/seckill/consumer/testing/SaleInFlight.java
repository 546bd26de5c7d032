package io.seckill.consumer.testing;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.ListDirection;

/**
 * A sale whose orders a test moves from store to store, and whose counters it changes as gateway
 * and relay do.
 */
public final class SaleInFlight {

  private static final String LANE = "a-relay:0:1";

  private final long sku;
  private final UnifiedJedis redis;
  private final AdmissionFixture admissions;
  private final OrderFlood flood;
  private long seq;

  private SaleInFlight(long sku, TestConsumer consumer, OrderFlood flood) {
    this.sku = sku;
    this.redis = consumer.redis();
    this.admissions = new AdmissionFixture(redis);
    this.flood = flood;
  }

  public static SaleInFlight open(long sku, long stock, TestConsumer consumer, OrderFlood flood) {
    new Sales(consumer).open(sku, "LIMITED", 100, stock);
    consumer.redis().sadd(RedisKeys.skus(Partition.ofSku(sku)), Long.toString(sku));
    return new SaleInFlight(sku, consumer, flood);
  }

  /** The next order of the sale, in the sequence that Redis counts. */
  public OrderMessage order(long user, int quantity) {
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.LIMITED, user, quantity);
    return new OrderMessage(
        order.orderId(),
        user,
        sku,
        quantity,
        order.requestId(),
        order.policy(),
        order.epoch(),
        ++seq,
        order.admittedAt(),
        null);
  }

  /** Changes stock, quota, record, counters and outbox as {@code admit.lua} does. */
  public void admit(OrderMessage... orders) {
    admissions.admit(orders);
    for (OrderMessage order : orders) {
      redis.hincrBy(RedisKeys.sku(sku), "seq", 1);
      redis.hincrBy(RedisKeys.sku(sku), "admittedOrders", 1);
      redis.hincrBy(RedisKeys.sku(sku), "admittedUnits", order.quantity());
      redis.lpush(outbox(), OrderMessageCodec.encode(order));
    }
  }

  /** Moves orders from the outbox to the private queue of a lane whose lease ended long ago. */
  public void claim(int orders) {
    redis.zadd(RedisKeys.lanes(Partition.ofSku(sku)), 1, LANE);
    for (int i = 0; i < orders; i++) {
      redis.lmove(outbox(), privateQueue(), ListDirection.RIGHT, ListDirection.LEFT);
    }
  }

  /** Sets the end of the lane's lease to this time from now. */
  public void lease(Duration left) {
    double end = System.currentTimeMillis() + left.toMillis();
    redis.zadd(RedisKeys.lanes(Partition.ofSku(sku)), end, LANE);
  }

  /** Publishes, confirms and settles orders as a relay does. */
  public void publish(OrderMessage... orders) {
    flood.publish(orders);
    settle(orders);
  }

  public void settle(OrderMessage... orders) {
    List<OrderMessage> all = Arrays.asList(orders);
    for (OrderMessage order : all) {
      redis.lrem(privateQueue(), -1, OrderMessageCodec.encode(order));
      redis.hincrBy(RedisKeys.sku(sku), "publishedOrders", 1);
      redis.hincrBy(RedisKeys.sku(sku), "publishedUnits", order.quantity());
    }
  }

  public String outbox() {
    return RedisKeys.outbox(Partition.ofSku(sku));
  }

  public String privateQueue() {
    return RedisKeys.privateQueue(Partition.ofSku(sku), LANE);
  }
}
