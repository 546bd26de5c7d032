package io.seckill.relay.recovery;

/**
 * Orders waiting in one partition, as the {@link LaneLeaseRenewer} last read them.
 *
 * @param outbox orders not taken by any lane; -1 = unknown
 * @param oldestAgeMs age of the oldest of them since its admission; 0 when there is none
 * @param dead orders in private queues whose leases are over, to be adopted
 */
public record PartitionBacklog(long outbox, long oldestAgeMs, long dead) {

  static final PartitionBacklog NONE = new PartitionBacklog(0, 0, 0);

  /** A key of the partition has another type, or its cluster node is unavailable. */
  static final PartitionBacklog UNKNOWN = new PartitionBacklog(-1, 0, 0);

  /** Whether there are, or may be, orders to take. */
  public boolean isWork() {
    return outbox != 0;
  }
}
