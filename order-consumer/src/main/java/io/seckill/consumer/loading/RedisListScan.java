package io.seckill.consumer.loading;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.RedisKeys;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
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
public class RedisListScan {

  /** More than a private queue holds, so that each is read by one command. */
  private static final int PAGE = 5_000;

  private final UnifiedJedis redis;

  public RedisListScan(UnifiedJedis redis) {
    this.redis = redis;
  }

  /**
   * Returns whether there is none; ends at the first.
   *
   * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
   */
  public boolean hasNone(long skuId) {
    return !any(skuId, order -> true);
  }

  /** Removes those that are there from a set. Throws JedisException when Redis does not answer. */
  public void removeFrom(long skuId, Set<OrderId> orders) {
    any(
        skuId,
        order -> {
          orders.remove(order);
          return orders.isEmpty();
        });
  }

  private boolean any(long skuId, Predicate<OrderId> isEnough) {
    int partition = Partition.ofSku(skuId);
    return any(RedisKeys.outbox(partition), skuId, isEnough)
        || redis.zrange(RedisKeys.lanes(partition), 0, -1).stream()
            .anyMatch(member -> any(RedisKeys.privateQueue(partition, member), skuId, isEnough));
  }

  private boolean any(String list, long skuId, Predicate<OrderId> isEnough) {
    List<String> page;
    long from = 0;
    do {
      page = redis.lrange(list, from, from + PAGE - 1);
      if (page.stream().flatMap(entry -> order(entry, skuId).stream()).anyMatch(isEnough)) {
        return true;
      }
      from += PAGE;
    } while (page.size() == PAGE);
    return false;
  }

  /** Empty for another SKU's, and for an entry that the relay turns into a dead letter. */
  private static Optional<OrderId> order(String entry, long skuId) {
    try {
      OrderMessage order = OrderMessageCodec.decode(entry.getBytes(StandardCharsets.UTF_8));
      return order.skuId() == skuId ? Optional.of(order.orderId()) : Optional.empty();
    } catch (UnreadableMessageException e) {
      return Optional.empty();
    }
  }
}
