package io.seckill.relay.lane;

import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.List;

/** Forbidden behaviour of a lane; each method replaces the product's method of the same name. */
public final class MutantLane {

  private MutantLane() {}

  /** Removes orders as soon as they are claimed. */
  static ClaimResult settleAndClaim(
      PrivateQueue queue, List<OutboundOrder> confirmed, int most, Duration wait)
      throws LeaseFencedException {
    ClaimResult claimed = queue.settleAndClaim(confirmed, most, wait);
    List<OutboundOrder> taken =
        claimed.taken().stream().map(entry -> OutboundOrder.of(entry, 0)).toList();
    queue.settleAndClaim(taken, 0, Duration.ZERO);
    return claimed;
  }

  /** Removes orders as soon as they are taken. */
  static void publish(DirectLane lane, List<OutboundOrder> orders)
      throws BrokerFailureException, LeaseFencedException {
    if (!orders.isEmpty()) {
      lane.connections.queue().settleAndClaim(orders, 0, Duration.ZERO);
    }
    lane.publish(orders);
  }

  /** Keeps the lease, to whose private queue a late call may still push. */
  static void beginNewLease(LaneConnections connections) {}

  /** Finds nothing in the private queue, so that nothing is published again. */
  static List<byte[]> contents(PrivateQueue queue, int most) {
    return List.of();
  }
}
