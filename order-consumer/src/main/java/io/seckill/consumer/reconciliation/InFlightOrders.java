package io.seckill.consumer.reconciliation;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.RedisKeys;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Which orders of a SKU lie in Redis's lists: the outbox and the private queues of its partition,
 * dead ones too.
 *
 * <p>Orders move from the outbox to a private queue and from a dead one to a living one, so the
 * outbox is read first, from its newest end: what is pushed meanwhile moves the rest towards the
 * reader, and what is taken has gone to a queue that is read after. An order that still slips
 * through, adopted at that very moment, is only thought missing and sent twice.
 */
@Component
public class InFlightOrders {

  /** More than a private queue holds, so that each is read at once. */
  private static final int PAGE = 5_000;

  private final UnifiedJedis redis;

  InFlightOrders(UnifiedJedis redis) {
    this.redis = redis;
  }

  /**
   * @return order ids, in no order
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  public Set<OrderId> of(long skuId) {
    int partition = Partition.ofSku(skuId);
    Set<OrderId> found = new HashSet<>();
    collect(RedisKeys.outbox(partition), skuId, found);
    for (String member : redis.zrange(RedisKeys.lanes(partition), 0, -1)) {
      collect(RedisKeys.privateQueue(partition, member), skuId, found);
    }
    return found;
  }

  private void collect(String list, long skuId, Set<OrderId> found) {
    List<String> page;
    long from = 0;
    do {
      page = redis.lrange(list, from, from + PAGE - 1);
      page.forEach(entry -> add(entry, skuId, found));
      from += PAGE;
    } while (page.size() == PAGE);
  }

  private static void add(String entry, long skuId, Set<OrderId> found) {
    try {
      OrderMessage order = OrderMessageCodec.decode(entry.getBytes(StandardCharsets.UTF_8));
      if (order.skuId() == skuId) {
        found.add(order.orderId());
      }
    } catch (UnreadableMessageException e) {
      // The relay makes a dead letter of it; it is no order of ours.
    }
  }
}
