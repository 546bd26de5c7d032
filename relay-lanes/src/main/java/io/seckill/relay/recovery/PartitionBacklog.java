package io.seckill.relay.recovery;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.redis.PipelineReplies;
import java.util.Objects;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;

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

  /** Whether there are, or may be, orders to take or to adopt. */
  public boolean isWork() {
    return outbox != 0 || dead != 0;
  }

  /**
   * @param now by Redis's clock, Unix ms
   * @param depth length of the outbox
   * @param oldest its last entry
   */
  static PartitionBacklog of(long now, long dead, Response<Long> depth, Response<String> oldest) {
    try {
      String entry = Objects.requireNonNullElse(PipelineReplies.get(oldest), "");
      return new PartitionBacklog(
          PipelineReplies.get(depth), OrderMessageCodec.ageMs(entry, now), dead);
    } catch (JedisDataException e) {
      return UNKNOWN; // the outbox key has another type; its lane reports it
    }
  }
}
