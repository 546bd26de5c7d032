package io.seckill.relay.recovery;

import static io.seckill.relay.redis.BinaryScript.bytes;

import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.redis.BinaryScript;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

/** Adopts the orders in private queues whose leases are over. */
public final class DeadQueues {

  private static final Logger log = LoggerFactory.getLogger(DeadQueues.class);
  private static final BinaryScript ADOPT = BinaryScript.from(DeadQueues.class, "adopt.lua");
  private static final long OWN_LEASE_OVER = -1;

  private DeadQueues() {}

  /**
   * Moves orders from a dead private queue to the adopter's own, oldest first, and fences the dead
   * lease.
   *
   * @param adopter token of the adopting lane
   * @param dead token of a lease that has ended, of the same partition
   * @param most 1..4096
   * @return orders moved; empty when none was left or that lease is still in force
   * @throws LeaseFencedException when the adopter's own lease is over; nothing was moved
   */
  public static List<byte[]> adopt(
      UnifiedJedis redis, int partition, String adopter, String dead, int most)
      throws LeaseFencedException {
    List<byte[]> keys =
        List.of(
            bytes(RedisKeys.lanes(partition)),
            bytes(RedisKeys.privateQueue(partition, adopter)),
            bytes(RedisKeys.privateQueue(partition, dead)));
    List<Object> reply = ADOPT.call(redis, keys, List.of(bytes(adopter), bytes(dead), bytes(most)));
    if ((Long) reply.get(0) == OWN_LEASE_OVER) {
      throw new LeaseFencedException(adopter);
    }
    List<byte[]> adopted = reply.stream().skip(1).map(byte[].class::cast).toList();
    if (!adopted.isEmpty()) {
      log.info("{} adopted {} orders of {}", adopter, adopted.size(), dead);
    }
    return adopted;
  }
}
