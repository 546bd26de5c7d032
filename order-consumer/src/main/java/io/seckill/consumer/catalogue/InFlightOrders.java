package io.seckill.consumer.catalogue;

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
 * Finds the orders of a SKU in Redis's lists: the outbox and the private queues of its partition,
 * including those of dead lanes.
 *
 * <p>Orders move from the outbox to a private queue, and from a dead lane's queue to a live lane's.
 * The outbox is therefore read first, from its newest end: orders pushed meanwhile move the rest
 * towards the reader, and orders taken meanwhile are in a queue that is read later. An order that
 * is still missed, because it is adopted at that very moment, is only considered missing and sent
 * twice.
 */
@Component
public class InFlightOrders {

  /** More than a private queue holds, so that each is read by one command. */
  private static final int PAGE = 5_000;

  private final UnifiedJedis redis;

  InFlightOrders(UnifiedJedis redis) {
    this.redis = redis;
  }

  /**
   * @return order ids, in no particular order
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
      // The relay turns it into a dead letter; it is not one of the orders searched for.
    }
  }
}
