package io.seckill.consumer.consistency;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** Reads the balance items in Redis; see {@code balance_items.lua}. Thread-safe. */
@Component
class RedisBalanceItems {

  private static final LuaScript TERMS =
      LuaScript.from(RedisBalanceItems.class, "balance_items.lua");

  /** Index of the first SKU in the reply; the fields before it describe the partition. */
  private static final int FIRST_SKU = 5;

  private static final int FIELDS = 9;

  private final UnifiedJedis redis;

  RedisBalanceItems(UnifiedJedis redis) {
    this.redis = redis;
  }

  /**
   * @return the requested partitions, each read at one moment, in the requested order
   * @throws redis.clients.jedis.exceptions.JedisException when Redis is unavailable, or one of the
   *     keys has the wrong type
   */
  List<PartitionBalanceItems> read(Collection<Integer> partitions) {
    List<Integer> asked = List.copyOf(partitions);
    List<Response<Object>> replies = new ArrayList<>(asked.size());
    try (AbstractPipeline pipeline = redis.pipelined()) {
      asked.forEach(
          partition -> replies.add(TERMS.queue(pipeline, keys(partition), args(partition))));
      pipeline.sync();
    }
    List<PartitionBalanceItems> terms = new ArrayList<>(asked.size());
    for (int i = 0; i < asked.size(); i++) {
      int partition = asked.get(i);
      Object reply = TERMS.answer(replies.get(i), redis, keys(partition), args(partition));
      terms.add(terms(partition, (List<?>) reply));
    }
    return terms;
  }

  private static List<String> keys(int partition) {
    return List.of(RedisKeys.outbox(partition));
  }

  private static List<String> args(int partition) {
    return List.of(RedisKeys.prefix(partition));
  }

  private static PartitionBalanceItems terms(int partition, List<?> reply) {
    List<RedisSaleCounters> sales = new ArrayList<>();
    for (int at = FIRST_SKU; at < reply.size(); at += FIELDS) {
      sales.add(sale(reply.subList(at, at + FIELDS)));
    }
    return new PartitionBalanceItems(
        partition,
        number(reply.get(1)),
        age(String.valueOf(reply.get(2)), number(reply.get(0))),
        number(reply.get(3)),
        number(reply.get(4)),
        List.copyOf(sales));
  }

  private static RedisSaleCounters sale(List<?> fields) {
    return new RedisSaleCounters(
        number(fields.get(0)),
        number(fields.get(1)),
        number(fields.get(2)),
        String.valueOf(fields.get(3)),
        number(fields.get(4)),
        new OrderTotals(number(fields.get(5)), number(fields.get(6))),
        new OrderTotals(number(fields.get(7)), number(fields.get(8))));
  }

  /** An absent value counts as 0. */
  private static long number(Object value) {
    String text = String.valueOf(value);
    return text.isEmpty() ? 0 : Long.parseLong(text);
  }

  private static long age(String order, long now) {
    if (order.isEmpty()) {
      return 0;
    }
    try {
      return Math.max(0, now - OrderMessageCodec.decode(order).admittedAt());
    } catch (UnreadableMessageException e) {
      return 0; // becomes a dead letter when a lane takes it
    }
  }
}
