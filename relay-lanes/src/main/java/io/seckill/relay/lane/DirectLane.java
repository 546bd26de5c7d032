package io.seckill.relay.lane;

import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OrdersRefusedException;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;

/**
 * A lane of a gateway: publishes what the gateway has admitted into the private queue and handed
 * over. Takes nothing from the outbox and adopts nothing; relays adopt what it leaves.
 */
final class DirectLane extends RelayLane {

  /**
   * Shortest time between two removals of confirmed orders, unless a quarter of the window is
   * confirmed. With {@code appendfsync always} each removal is an fsync that purchases wait for; a
   * crash sends more orders twice for it.
   */
  private static final Duration REMOVAL_INTERVAL = Duration.ofMillis(50);

  private final LaneMailbox mailbox;
  private long removedAt = System.nanoTime();

  DirectLane(
      String name,
      LaneSettings settings,
      LaneConnections connections,
      LaneLease lease,
      RelayMeters meters,
      LaneMailbox mailbox) {
    super(name, settings, connections, lease, meters);
    this.mailbox = mailbox;
  }

  @Override
  void work()
      throws BrokerFailureException,
          OrdersRefusedException,
          LeaseFencedException,
          InterruptedException {
    try {
      super.work();
    } finally {
      mailbox.close();
    }
  }

  @Override
  void blocked() throws InterruptedException {
    mailbox.close();
    orders.queueUnknown();
    super.blocked();
  }

  /**
   * Begins a new lease after the last page, because a call that is late may still push to the queue
   * of this one: relays adopt what it pushes before the lease ends, and after that it pushes to the
   * outbox. Pauses first, so that repeated failures leave few ended leases in the registry.
   */
  @Override
  void recover() throws BrokerFailureException, InterruptedException {
    super.recover();
    if (orders.state() == UnsettledOrders.QueueState.COUNTED) {
      backoff.pause();
      connections.beginNewLease();
    }
  }

  @Override
  void removeAndTake() throws BrokerFailureException, LeaseFencedException, InterruptedException {
    if (lease.isLost()) { // without orders nothing else shows it
      throw new LeaseFencedException(connections.queue().token());
    }
    if (isRemovalDue()) {
      removedAt = System.nanoTime();
      ClaimResult left = settleAndClaim(0, Duration.ZERO);
      orders.compareWith(left.queueLength() - mailbox.outstanding());
    }
    takeDelivered();
    if (connections.link().pending() == 0 && orders.state() != UnsettledOrders.QueueState.UNREAD) {
      awaitOrders();
    }
  }

  private void takeDelivered() throws BrokerFailureException {
    if (orders.state() != UnsettledOrders.QueueState.COUNTED) {
      mailbox.close();
    } else if (mailbox.open(
        connections.queue().token(), connections.link()::wake, orders.areFruitless())) {
      publish(mailbox.take(connections.link().room(), orders.count()));
    } else {
      orders.queueUnknown();
    }
  }

  /**
   * Also without confirmed orders: Redis may be another server since, which has orders in the queue
   * whose removal it never got.
   */
  private boolean isRemovalDue() {
    int confirmed = orders.confirmed().size();
    Duration interval = confirmed > 0 ? REMOVAL_INTERVAL : POLL_INTERVAL;
    return confirmed >= quarter() || System.nanoTime() - removedAt > interval.toNanos();
  }

  private void awaitOrders() throws InterruptedException {
    if (orders.count() == 0) {
      progressed();
    }
    connections.link().awaitWoken(orders.count() == 0 ? POLL_INTERVAL : REMOVAL_INTERVAL);
  }
}
