package io.seckill.gateway.testing;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.RedisKeys;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.UnifiedJedis;

/** A SKU on sale in Redis, in the state that preheat and open leave, with queries for tests. */
public final class TestSale {

  public static final int BUCKETS = 4;
  private static final long FIRST_SKU = 1_001;

  private final UnifiedJedis redis;
  private final long sku;

  private TestSale(UnifiedJedis redis, long sku) {
    this.redis = redis;
    this.sku = sku;
  }

  /** Writes a sale that is open now and closes in a day. */
  public static TestSale open(UnifiedJedis redis, PurchasePolicy policy, int limit, long stock) {
    return open(redis, FIRST_SKU, policy, limit, stock);
  }

  public static TestSale open(
      UnifiedJedis redis, long sku, PurchasePolicy policy, int limit, long stock) {
    Instant now = Instant.now();
    Map<String, String> rules = new HashMap<>();
    rules.put("policy", policy.name());
    rules.put("limit", Integer.toString(limit));
    rules.put("maxPerOrder", "100");
    rules.put("opensAt", Long.toString(now.minus(1, ChronoUnit.MINUTES).toEpochMilli()));
    rules.put("closesAt", Long.toString(now.plus(1, ChronoUnit.DAYS).toEpochMilli()));
    rules.put("expiresAt", Long.toString(now.plus(3, ChronoUnit.DAYS).toEpochMilli()));
    rules.put("state", "OPEN");
    rules.put("epoch", "1");
    rules.put("bucketCount", Integer.toString(BUCKETS));
    rules.put("seq", "0");
    rules.put("settled", "0");
    rules.put("admittedOrders", "0");
    rules.put("admittedUnits", "0");
    TestSale sale = new TestSale(redis, sku);
    redis.hset(RedisKeys.sku(sku), rules);
    sale.stock(stock);
    return sale;
  }

  public static TestSale unlimited(UnifiedJedis redis, long stock) {
    return open(redis, PurchasePolicy.UNLIMITED, 0, stock);
  }

  /** The replication id of the server that the client is connected to. */
  public static String replicationId(UnifiedJedis redis) {
    return redis.info("replication").replaceAll("(?s).*master_replid:(\\p{XDigit}+).*", "$1");
  }

  public long sku() {
    return sku;
  }

  public int partition() {
    return (int) (sku % 16);
  }

  public TestSale with(String field, Object value) {
    redis.hset(RedisKeys.sku(sku), field, value.toString());
    return this;
  }

  public TestSale without(String field) {
    redis.hdel(RedisKeys.sku(sku), field);
    return this;
  }

  public void stock(long units) {
    redis.set(RedisKeys.stock(sku), Long.toString(units));
  }

  public long stock() {
    return Long.parseLong(redis.get(RedisKeys.stock(sku)));
  }

  public long counter(String field) {
    return Long.parseLong(redis.hget(RedisKeys.sku(sku), field));
  }

  public String quota(long user) {
    return redis.hget(bucket(user), RedisKeys.quotaField(user));
  }

  public String record(long user, String orderId) {
    return redis.hget(bucket(user), orderId);
  }

  public void writeRecord(long user, String orderId, String record) {
    redis.hset(bucket(user), orderId, record);
  }

  public String bucket(long user) {
    return RedisKeys.bucket(sku, RedisKeys.bucketOf(user, BUCKETS));
  }

  /** Oldest first. */
  public List<OrderMessage> outbox() {
    return redis.lrange(RedisKeys.outbox(partition()), 0, -1).stream()
        .map(TestSale::decode)
        .sorted(java.util.Comparator.comparingLong(OrderMessage::seq))
        .toList();
  }

  private static OrderMessage decode(String json) {
    try {
      OrderMessage message = OrderMessageCodec.decode(json);
      if (!OrderMessageCodec.encode(message).equals(json)) {
        throw new AssertionError("admit.lua and the codec spell messages differently: " + json);
      }
      return message;
    } catch (UnreadableMessageException e) {
      throw new AssertionError(json, e);
    }
  }
}
