package io.seckill.gateway.ops;

import io.seckill.common.redis.RedisKeys;
import java.util.List;

/**
 * Every lane in the registry in Redis, and every outbox.
 *
 * @param lanes by partition, alive ones first
 * @param outboxes by partition
 * @param unavailable partitions whose server does not answer; their lanes and outboxes are missing
 * @param refusing partitions whose server answers and takes no writes
 */
record Lanes(
    List<Lane> lanes, List<Outbox> outboxes, List<Integer> unavailable, List<Integer> refusing) {

  /** Whether any lane that takes from outboxes is alive. */
  boolean anyAlive() {
    return lanes.stream().anyMatch(Lane::drainsOutbox);
  }

  /**
   * One lease of a lane.
   *
   * @param relay name of the relay, or of the gateway whose lane it is
   * @param lane its number within that process
   * @param leaseLeftMs below 0 once the lease has lapsed, or longer than any lease when Redis's
   *     clock was set back; 0 for a dead lane
   * @param privateQueue orders taken and not confirmed
   */
  record Lane(
      String relay,
      int lane,
      int partition,
      String token,
      LeaseState state,
      long leaseLeftMs,
      long privateQueue) {

    /** Whether it takes the orders of its partition's outbox: alive, and of a relay. */
    boolean drainsOutbox() {
      return state == LeaseState.ALIVE && !relay.startsWith(RedisKeys.GATEWAY_LANES);
    }
  }

  /** State of a lane's entry in the registry. */
  enum LeaseState {
    ALIVE,
    /**
     * Its lease has expired, or ends later than any lease can, and no relay has taken over its
     * private queue yet.
     */
    LAPSED,
    /** Its lease has been ended; running relays sweep its private queue until it stays empty. */
    DEAD
  }

  /**
   * Orders that are admitted and not yet taken by a lane; the age of the oldest since its admission
   * is 0 when there is none.
   */
  record Outbox(int partition, long orders, long oldestMs) {}
}
