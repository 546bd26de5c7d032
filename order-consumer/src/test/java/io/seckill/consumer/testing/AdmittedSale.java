package io.seckill.consumer.testing;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import redis.clients.jedis.UnifiedJedis;

/**
 * A sale in both stores, with one bucket until it is rebuilt, to which a test admits shoppers as
 * admit.lua does.
 */
public final class AdmittedSale {

  private static final long TIME = 1_790_000_000_000L;

  public final long sku;
  private final PurchasePolicy policy;
  private final UnifiedJedis redis;
  private long seq;

  public AdmittedSale(
      TestConsumer consumer, long sku, PurchasePolicy policy, int limit, long stock) {
    this.sku = sku;
    this.policy = policy;
    this.redis = consumer.redis();
    new Sales(consumer).open(sku, policy.name(), limit, stock);
  }

  /**
   * Admits an order and counts it as published, but puts it neither into the outbox nor into the
   * broker.
   */
  public OrderMessage admit(long user, int quantity) {
    long n = ++seq;
    OrderMessage order =
        new OrderMessage(
            OrderId.of(TIME + sku * 100 + n, Partition.ofSku(sku), 2, 0),
            user,
            sku,
            quantity,
            "request-" + sku + "-" + n,
            policy,
            Long.parseLong(field("epoch")),
            n,
            TIME + n,
            null);
    String id = order.orderId().toString();
    redis.hset(bucket(user), id, AdmissionRecord.queued(order).format());
    redis.hset(bucket(user), request(order), id + ":" + quantity);
    redis.decrBy(RedisKeys.stock(sku), quantity);
    redis.hset(RedisKeys.sku(sku), "seq", Long.toString(n));
    redis.hincrBy(RedisKeys.sku(sku), "admittedOrders", 1);
    redis.hincrBy(RedisKeys.sku(sku), "admittedUnits", quantity);
    redis.hincrBy(RedisKeys.sku(sku), "publishedOrders", 1);
    redis.hincrBy(RedisKeys.sku(sku), "publishedUnits", quantity);
    if (policy.keepsQuota()) {
      redis.hincrBy(bucket(user), RedisKeys.quotaField(user), quantity);
    }
    return order;
  }

  /** The same order as the message of another request, or with another policy. */
  public static OrderMessage copy(OrderMessage order, String requestId, PurchasePolicy policy) {
    return AdmissionRecord.queued(order).message(order.orderId(), order.skuId(), requestId, policy);
  }

  /** Counts one of the admitted orders as not published. */
  public void oneUnpublished() {
    redis.hincrBy(RedisKeys.sku(sku), "publishedOrders", -1);
  }

  /** Puts an admitted order into the outbox, where a relay would find it. */
  public void outbox(OrderMessage order) {
    redis.lpush(RedisKeys.outbox(Partition.ofSku(sku)), OrderMessageCodec.encode(order));
  }

  /** Deletes every key of the sale, as FLUSHALL does. */
  public void forget() {
    redis.del(buckets());
    redis.del(RedisKeys.sku(sku), RedisKeys.stock(sku), RedisKeys.stockChanges(sku));
  }

  /** Leaves of the sale what does not depend on the release. */
  public void asAFormerReleaseLoadedIt() {
    redis.del(buckets());
    redis.hdel(RedisKeys.sku(sku), "bucketCount");
    redis.hset(RedisKeys.sku(sku), "buckets", "1");
  }

  public String field(String name) {
    return String.valueOf(redis.hget(RedisKeys.sku(sku), name));
  }

  public long stock() {
    return Long.parseLong(redis.get(RedisKeys.stock(sku)));
  }

  public long quota(long user) {
    String units = redis.hget(bucket(user), RedisKeys.quotaField(user));
    return units == null ? 0 : Long.parseLong(units);
  }

  /** Status and reason letters of the record, "" without one. */
  public String result(OrderMessage order) {
    String record = redis.hget(bucket(order.userId()), order.orderId().toString());
    return record == null ? "" : record.split("\\|", -1)[5];
  }

  /** The time of the record's result, Unix ms. */
  public long changedAt(OrderMessage order) {
    return AdmissionRecord.parse(redis.hget(bucket(order.userId()), order.orderId().toString()))
        .changedAt();
  }

  /** Returns the stored answer to the order's request, {@code <order id>:<quantity>}, or "null". */
  public String firstAnswer(OrderMessage order) {
    return String.valueOf(redis.hget(bucket(order.userId()), request(order)));
  }

  public static String request(OrderMessage order) {
    return RedisKeys.requestField(order.userId(), order.requestId());
  }

  public void setQuota(long user, long units) {
    setQuota(user, Long.toString(units));
  }

  public void setQuota(long user, String units) {
    redis.hset(bucket(user), RedisKeys.quotaField(user), units);
  }

  /** Sets Redis's entry of a stock change, {@code <epoch>:<delta>:<outcome>}. */
  public void change(String id, String outcome) {
    redis.hset(RedisKeys.stockChanges(sku), id, outcome);
  }

  public void forgetChanges() {
    redis.del(RedisKeys.stockChanges(sku));
  }

  public void setStock(long units) {
    redis.set(RedisKeys.stock(sku), Long.toString(units));
  }

  public void setField(String name, String value) {
    redis.hset(RedisKeys.sku(sku), name, value);
  }

  public void setResult(OrderMessage order, String letters) {
    String key = bucket(order.userId());
    String[] part = redis.hget(key, order.orderId().toString()).split("\\|", -1);
    part[5] = letters;
    redis.hset(key, order.orderId().toString(), String.join("|", part));
  }

  private String[] buckets() {
    String count = redis.hget(RedisKeys.sku(sku), "bucketCount");
    return IntStream.range(0, count == null ? 1 : Integer.parseInt(count))
        .mapToObj(bucket -> RedisKeys.bucket(sku, bucket))
        .toArray(String[]::new);
  }

  /** Returns all data of the sale in Redis. */
  public Map<String, Object> all() {
    Map<String, String> fields = new HashMap<>();
    Stream.of(buckets()).forEach(bucket -> fields.putAll(redis.hgetAll(bucket)));
    return Map.of(
        "sku", redis.hgetAll(RedisKeys.sku(sku)),
        "stock", redis.get(RedisKeys.stock(sku)),
        "buckets", fields);
  }

  private String bucket(long user) {
    return RedisKeys.bucket(sku, RedisKeys.bucketOf(user, Integer.parseInt(field("bucketCount"))));
  }

  public void forgetRecord(OrderMessage order) {
    redis.hdel(bucket(order.userId()), order.orderId().toString());
    forgetRequest(order);
  }

  public void forgetRequest(OrderMessage order) {
    redis.hdel(bucket(order.userId()), request(order));
  }

  public void forgetGiven(OrderMessage order) {
    redis.hdel(bucket(order.userId()), RedisKeys.compensationField(order.orderId()));
  }
}
