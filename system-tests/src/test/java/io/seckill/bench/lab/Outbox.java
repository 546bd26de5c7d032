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

/** The outboxes and private queues of all partitions, filled and watched past the services. */
public final class Outbox {

  private static final int CHUNK = 500;

  private final UnifiedJedis redis;

  public Outbox(UnifiedJedis redis) {
    this.redis = redis;
  }

  /** Puts the orders beside the outboxes, at {@link #prepared}, where no relay looks. */
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

  /** Makes what was prepared the outboxes, at one stroke each. */
  public void release() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      if (redis.exists(prepared(partition))) {
        redis.rename(prepared(partition), RedisKeys.outbox(partition));
      }
    }
  }

  /** Orders in outboxes and private queues; an order on the move is counted twice, never missed. */
  public long waiting() {
    return IntStream.range(0, Partition.COUNT)
        .mapToLong(p -> redis.llen(RedisKeys.outbox(p)) + inPrivateQueues(p))
        .sum();
  }

  /** Forgets what was prepared and not released, of which others may have taken some. */
  public void discardPrepared() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      redis.unlink(prepared(partition));
    }
  }

  /** Forgets all orders; no relay may run. */
  public void clear() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      redis.unlink(RedisKeys.outbox(partition));
    }
  }

  /** Forgets the hashes of a sale that is over, many at a time. */
  public void forget(BenchSale sale) {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (int bucket = 0; bucket < sale.buckets(); bucket++) {
        pipeline.unlink(RedisKeys.orders(sale.skuId(), bucket));
        pipeline.unlink(RedisKeys.requests(sale.skuId(), bucket));
        pipeline.unlink(RedisKeys.quota(sale.skuId(), bucket));
      }
      pipeline.sync();
    }
  }

  /** Gives the orders the admission records that results are written over. */
  public static void record(AbstractPipeline pipeline, BenchSale sale, OrderMessage order) {
    pipeline.hset(
        RedisKeys.orders(sale.skuId(), RedisKeys.bucket(order.userId(), sale.buckets())),
        order.orderId().toString(),
        AdmissionRecord.queued(order).format());
  }

  /** The list of the orders of a partition that no relay sees. */
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
