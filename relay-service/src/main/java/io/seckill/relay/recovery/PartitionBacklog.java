package io.seckill.relay.recovery;

/**
 * What waits in one partition, as the {@link LaneLeaseRenewer} saw it last.
 *
 * @param outbox orders not taken by any lane; -1 = unknown
 * @param oldestAgeMs age of the oldest of them since its admission; 0 when there is none
 * @param dead orders in private queues whose leases are over, to be adopted
 */
public record PartitionBacklog(long outbox, long oldestAgeMs, long dead) {

  static final PartitionBacklog NONE = new PartitionBacklog(0, 0, 0);

  /** A foreign key lies in place of one of its own, or its node of a cluster is away. */
  static final PartitionBacklog UNKNOWN = new PartitionBacklog(-1, 0, 0);

  /** Whether there is, or may be, something to take. */
  public boolean isWork() {
    return outbox != 0;
  }
}
