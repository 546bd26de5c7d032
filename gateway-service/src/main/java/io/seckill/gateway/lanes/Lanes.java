package io.seckill.gateway.lanes;

import java.util.List;

/**
 * Every lane the registry in Redis knows, and every outbox.
 *
 * @param lanes by partition, the living ones first
 * @param outboxes by partition
 */
public record Lanes(List<Lane> lanes, List<Outbox> outboxes) {

  /** Whether any relay works. */
  public boolean anyAlive() {
    return lanes.stream().anyMatch(lane -> lane.state() == State.ALIVE);
  }

  /**
   * One lease of a lane.
   *
   * @param lane its number within the relay
   * @param token of this lease
   * @param state of its lease
   * @param leaseLeftMs below 0 once it has lapsed, or above any lease when Redis's clock was set
   *     back; 0 for a dead lane
   * @param privateQueue orders taken and not confirmed
   */
  public record Lane(
      String relay,
      int lane,
      int partition,
      String token,
      State state,
      long leaseLeftMs,
      long privateQueue) {}

  /** What a lane's entry in the registry says. */
  public enum State {
    ALIVE,
    /**
     * Its lease has ended, or ends later than any lease can, and nobody has taken its private queue
     * over yet.
     */
    LAPSED,
    /** It is over; living relays sweep its private queue until it stays empty. */
    DEAD
  }

  /**
   * Orders admitted and taken by no lane.
   *
   * @param oldestMs age of the oldest since its admission; 0 when there is none
   */
  public record Outbox(int partition, long orders, long oldestMs) {}
}
