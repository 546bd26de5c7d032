package io.seckill.system.faults;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.redis.RedisKeys;
import java.util.HashSet;
import java.util.Set;

/** Reads the private queues of lanes. */
final class PrivateQueues {

  private PrivateQueues() {}

  /**
   * Orders in the private queues of one owner's lanes, including dead ones.
   *
   * @param owner as in the names of its leases
   */
  static Set<String> of(PipelineLab lab, String owner) {
    Set<String> orders = new HashSet<>();
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      for (String queue : lab.redis().keys(RedisKeys.privateQueue(partition, owner + ":*"))) {
        lab.redis().lrange(queue, 0, -1).forEach(message -> orders.add(orderId(message)));
      }
    }
    return orders;
  }

  static String orderId(String message) {
    try {
      return OrderMessageCodec.decode(message).orderId().toString();
    } catch (UnreadableMessageException e) {
      throw new IllegalStateException(message, e);
    }
  }
}
