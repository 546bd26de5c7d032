package io.seckill.bench.lab;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.UnifiedJedis;

/** The outboxes and private queues of all partitions, filled and read without the services. */
public final class Outbox {

  private static final int CHUNK = 500;

  private final UnifiedJedis redis;

  public Outbox(UnifiedJedis redis) {
    this.redis = redis;
  }

  /** Writes the orders to the lists {@link #prepared}, which no relay reads. */
  public void prepare(MadeOrders orders) {
    Map<Integer, List<String>> waiting = new HashMap<>();
    orders.stream()
        .forEach(
            order -> {
              int partition = Partition.ofSku(order.skuId());
              List<String> chunk = waiting.computeIfAbsent(partition, p -> new ArrayList<>());
              chunk.add(OrderMessageCodec.encode(order));
              if (chunk.size() == CHUNK) {
                push(partition, chunk);
              }
            });
    waiting.forEach(this::push);
  }

  /** Renames the prepared lists to outboxes, each atomically. */
  public void release() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      if (redis.exists(prepared(partition))) {
        redis.rename(prepared(partition), RedisKeys.outbox(partition));
      }
    }
  }

  /**
   * Returns the number of orders in outboxes and private queues; an order that moves meanwhile may
   * be counted twice, but is never missed.
   */
  public long waiting() {
    return IntStream.range(0, Partition.COUNT)
        .mapToLong(p -> redis.llen(RedisKeys.outbox(p)) + inPrivateQueues(p))
        .sum();
  }

  /**
   * Deletes prepared lists that were not released and that other readers may have taken orders
   * from.
   */
  public void discardPrepared() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      redis.unlink(prepared(partition));
    }
  }

  /** Deletes all orders; no relay may run. */
  public void clear() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      redis.unlink(RedisKeys.outbox(partition));
    }
  }

  /** Deletes the hashes of an ended sale, many at a time. */
  public void forget(BenchSale sale) {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (int bucket = 0; bucket < sale.buckets(); bucket++) {
        pipeline.unlink(RedisKeys.bucket(sale.skuId(), bucket));
      }
      pipeline.sync();
    }
  }

  /** Writes the order's admission record, which its result will update. */
  public static void record(AbstractPipeline pipeline, BenchSale sale, OrderMessage order) {
    pipeline.hset(
        RedisKeys.bucket(sale.skuId(), RedisKeys.bucketOf(order.userId(), sale.buckets())),
        order.orderId().toString(),
        AdmissionRecord.queued(order).format());
  }

  /** The list of a partition's prepared orders, which no relay reads. */
  public static String prepared(int partition) {
    return RedisKeys.outbox(partition) + ":prepared";
  }

  private long inPrivateQueues(int partition) {
    return redis.zrange(RedisKeys.lanes(partition), 0, -1).stream()
        .mapToLong(member -> redis.llen(RedisKeys.privateQueue(partition, member)))
        .sum();
  }

  private void push(int partition, List<String> chunk) {
    if (!chunk.isEmpty()) {
      redis.lpush(prepared(partition), chunk.toArray(String[]::new));
      chunk.clear();
    }
  }
}
