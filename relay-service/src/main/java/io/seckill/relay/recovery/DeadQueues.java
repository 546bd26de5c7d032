package io.seckill.relay.recovery;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** Takes over what lies in the private queues of lives that are over. */
public final class DeadQueues {

  private static final LuaScript ADOPT = LuaScript.from(DeadQueues.class, "adopt.lua");

  private DeadQueues() {}

  /**
   * Moves orders from a dead private queue to the adopter's own, oldest first, and fences the dead
   * life.
   *
   * @param adopter member of the adopting lane
   * @param dead member whose lease has ended, of the same partition
   * @param most 1..4096
   * @return orders moved; empty when nothing was left or the member is alive after all
   * @throws LifeOverException when the adopter's own life is over; nothing was moved
   */
  public static List<String> adopt(
      UnifiedJedis redis, int partition, String adopter, String dead, int most)
      throws LifeOverException {
    List<String> keys =
        List.of(
            RedisKeys.lanes(partition),
            RedisKeys.privateQueue(partition, adopter),
            RedisKeys.privateQueue(partition, dead));
    List<?> reply =
        (List<?>) ADOPT.call(redis, keys, List.of(adopter, dead, Integer.toString(most)));
    if ((Long) reply.get(0) == -1) {
      throw new LifeOverException(adopter);
    }
    return reply.subList(1, reply.size()).stream().map(String.class::cast).toList();
  }
}
