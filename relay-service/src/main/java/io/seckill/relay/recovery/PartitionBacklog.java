package io.seckill.relay.recovery;

/**
 * What waits in one partition, as the {@link LeaseKeeper} saw it last.
 *
 * @param outbox orders not taken by any lane
 * @param oldestAgeMs age of the oldest of them since its admission; 0 when there is none
 */
public record PartitionBacklog(long outbox, long oldestAgeMs) {

  public static final PartitionBacklog NONE = new PartitionBacklog(0, 0);
}
