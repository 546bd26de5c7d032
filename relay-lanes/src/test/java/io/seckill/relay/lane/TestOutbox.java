package io.seckill.relay.lane;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.SnowflakeIds;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.testing.RedisDatabase;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** Admits orders as admit.lua does, and reads what is left of them in Redis. */
public final class TestOutbox implements AutoCloseable {

  private final UnifiedJedis redis;
  private final SnowflakeIds ids = new SnowflakeIds(1, 0, Clock.systemUTC());
  private long seq;

  public TestOutbox(String redisUrl) {
    this(RedisDatabase.open(redisUrl));
  }

  TestOutbox(RedisSettings settings) {
    this(RedisClients.open(settings, "test"));
  }

  private TestOutbox(UnifiedJedis redis) {
    this.redis = redis;
  }

  public UnifiedJedis redis() {
    return redis;
  }

  /** Preheats the fields of a SKU that the relay reads. */
  void preheat(long sku) {
    redis.hset(RedisKeys.sku(sku), Map.of("state", "OPEN", "epoch", "1"));
  }

  OrderMessage message(long sku) {
    return message(sku, 1 + seq % 3 == 0 ? 1 : 2, null);
  }

  OrderMessage message(long sku, int quantity, String traceparent) {
    seq++;
    return new OrderMessage(
        ids.next(Partition.ofSku(sku)),
        seq,
        sku,
        quantity,
        "request-" + seq,
        PurchasePolicy.UNLIMITED,
        1,
        seq,
        System.currentTimeMillis(),
        traceparent);
  }

  /** Puts orders of these SKUs, in turn, into their outboxes; returns their ids in that order. */
  public List<String> admit(int orders, long... skus) {
    List<String> admitted = new ArrayList<>(orders);
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (int i = 0; i < orders; i++) {
        OrderMessage message = message(skus[i % skus.length]);
        admitted.add(message.orderId().toString());
        pipeline.lpush(
            RedisKeys.outbox(Partition.ofSku(message.skuId())), OrderMessageCodec.encode(message));
      }
    }
    return admitted;
  }

  /** Puts any text into the outbox of a partition. */
  void admitText(int partition, String text) {
    redis.lpush(RedisKeys.outbox(partition), text);
  }

  /** Puts an order into a private queue without its lane's knowledge; returns its id. */
  String claimLate(String token, long sku) {
    OrderMessage message = message(sku);
    int partition = Partition.ofSku(sku);
    redis.lpush(RedisKeys.privateQueue(partition, token), OrderMessageCodec.encode(message));
    return message.orderId().toString();
  }

  public long waiting() {
    List<Response<Long>> lengths = new ArrayList<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (int p = 0; p < Partition.COUNT; p++) {
        lengths.add(pipeline.llen(RedisKeys.outbox(p)));
      }
    }
    return lengths.stream().mapToLong(Response::get).sum();
  }

  /** Keys of all private queues that are not empty. */
  public Set<String> privateQueues() {
    Set<String> queues = new HashSet<>();
    for (int p = 0; p < Partition.COUNT; p++) {
      queues.addAll(redis.keys(RedisKeys.privateQueue(p, "*")));
    }
    return queues;
  }

  public long inPrivateQueues() {
    return privateQueues().stream().mapToLong(redis::llen).sum();
  }

  /** Counter in a SKU's hash; 0 when the field does not exist. */
  long counter(long sku, String field) {
    String value = redis.hget(RedisKeys.sku(sku), field);
    return value == null ? 0 : Long.parseLong(value);
  }

  public static long[] skusOfEveryPartition() {
    long[] skus = new long[Partition.COUNT];
    Arrays.setAll(skus, p -> 1600 + p);
    return skus;
  }

  @Override
  public void close() {
    redis.close();
  }
}
