package io.seckill.relay.lane;

import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.List;

/** A lane of a relay: takes orders from the outbox, and those of dead lanes. */
final class OutboxLane extends RelayLane {

  OutboxLane(
      String name,
      LaneSettings settings,
      LaneConnections connections,
      LaneLease lease,
      RelayMeters meters) {
    super(name, settings, connections, lease, meters);
  }

  @Override
  void removeAndTake() throws BrokerFailureException, LeaseFencedException, InterruptedException {
    int most = Math.min(orders.room(settings.maxUnconfirmed()), connections.link().room());
    int room = most - adopt(most); // before new orders: these have waited longest
    if (room == 0 && orders.confirmed().isEmpty()) {
      return;
    }
    Duration wait = orders.count() == 0 ? POLL_INTERVAL : Duration.ZERO;
    ClaimResult claimed = settleAndClaim(room, wait);
    if (claimed.refused() && claimed.taken().isEmpty()) {
      claimed = settleAndClaim(room, Duration.ZERO); // a room of 1 was for BRPOPLPUSH alone
      if (claimed.taken().isEmpty()) {
        recovery.redisFull();
      }
    }
    publishEntries(claimed.taken());
    orders.compareWith(claimed.queueLength());
  }

  /** Takes orders of dead lanes over and publishes them; returns how many, 0..most. */
  private int adopt(int most) throws BrokerFailureException, LeaseFencedException {
    int adopted = 0;
    for (String dead : lease.deadLeases()) {
      if (adopted < most) {
        List<byte[]> taken = connections.queue().adopt(dead, most - adopted);
        meters.adopted(taken.size());
        publishEntries(taken);
        adopted += taken.size();
      }
    }
    return adopted;
  }
}
