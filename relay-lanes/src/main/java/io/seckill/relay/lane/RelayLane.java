package io.seckill.relay.lane;

import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OrdersRefusedException;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.Backoff;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One thread that publishes orders of one partition to the broker, with one connection to Redis,
 * one to the broker, and one private queue. Takes orders from the outbox, and those of dead lanes.
 * Only this thread takes and publishes orders; confirms arrive on the broker connection's thread.
 * An order leaves the private queue only after its confirm.
 */
sealed class RelayLane implements Runnable permits DirectLane {

  /**
   * Longest wait of an idle lane, which notices a stop or a dead lane this fast; in whole seconds,
   * as Redis wants it.
   */
  static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

  /** First wait after a failure, doubled up to the longest, jittered by half. */
  private static final Duration BACK_OFF = Duration.ofMillis(100);

  /** The broker's circuit breaker permits a trial every two seconds: longer gains nothing. */
  private static final Duration MAX_BACK_OFF = Duration.ofSeconds(2);

  private final LaneSettings settings;
  final LaneConnections connections;
  final LaneLease lease;
  final LaneStatus status;
  private final RelayMeters meters;
  final Backoff backoff;
  final UnsettledOrders orders = new UnsettledOrders();
  private final LaneRecovery recovery;
  private final CountDownLatch stopped = new CountDownLatch(1);

  RelayLane(
      String name,
      LaneSettings settings,
      LaneConnections connections,
      LaneLease lease,
      RelayMeters meters) {
    this.settings = settings;
    this.connections = connections;
    this.lease = lease;
    this.status = new LaneStatus(name, lease.partition());
    this.meters = meters;
    this.backoff = new Backoff(BACK_OFF, MAX_BACK_OFF);
    this.recovery = new LaneRecovery(connections, lease, orders, status, backoff, meters);
  }

  LaneStatus status() {
    return status;
  }

  @Override
  public void run() {
    try {
      while (!backoff.isStopped()) {
        recovery.attempt(this::work);
      }
      recovery.lastAttempt(this::drain);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      connections.close(); // ends the lease: other lanes adopt the remaining orders
      status.enter(LaneState.STOPPED, "");
      stopped.countDown();
    }
  }

  /** A lane's life: lease; then confirm, recover, remove, take and publish until a stop. */
  void work()
      throws BrokerFailureException,
          OrdersRefusedException,
          LeaseFencedException,
          InterruptedException {
    connections.open();
    while (!backoff.isStopped()) {
      awaitConfirms();
      if (connections.link().isBlocked()) {
        blocked();
      } else if (orders.state() == UnsettledOrders.QueueState.UNREAD) {
        recover();
      } else {
        removeAndTake();
      }
    }
  }

  /** Removes confirmed orders from the private queue, takes new ones and publishes them. */
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

  void blocked() throws InterruptedException {
    recovery.blocked();
  }

  /** Waits briefly for confirms; returns at once when nothing is in flight. */
  private void awaitConfirms()
      throws BrokerFailureException, OrdersRefusedException, InterruptedException {
    connections.link().awaitConfirmed(quarter(), orders.confirmed());
    connections.link().check();
    recovery.waited();
  }

  /** A quarter of the window: enough confirmed orders to be worth a round trip. */
  final int quarter() {
    return Math.max(1, settings.maxUnconfirmed() / 4);
  }

  /** Publishes a page of the private queue again. */
  void recover() throws BrokerFailureException, InterruptedException {
    List<byte[]> left = connections.queue().contents(settings.maxUnconfirmed());
    orders.read(left.size());
    meters.republished(left.size());
    publishEntries(left);
  }

  final ClaimResult settleAndClaim(int most, Duration wait) throws LeaseFencedException {
    int removed = orders.confirmed().size();
    ClaimResult claimed = connections.queue().settleAndClaim(orders.confirmed(), most, wait);
    if (removed > 0 || !claimed.taken().isEmpty() || claimed.queueLength() == 0) {
      progressed();
    }
    meters.settled(removed);
    orders.removed();
    status.outstanding(orders.count(), connections.link().pending());
    backoff.reset();
    return claimed;
  }

  final void progressed() {
    status.progressed();
    lease.worked();
  }

  private void publishEntries(List<byte[]> entries) throws BrokerFailureException {
    publish(entries.stream().map(entry -> OutboundOrder.of(entry, lease.partition())).toList());
  }

  final void publish(List<OutboundOrder> outbound) throws BrokerFailureException {
    if (!outbound.isEmpty()) {
      orders.published(outbound);
      connections.link().publish(outbound);
      status.outstanding(orders.count(), connections.link().pending());
    }
  }

  /** Waits for the confirms in flight and removes their orders from the private queue. */
  private void drain()
      throws BrokerFailureException,
          OrdersRefusedException,
          LeaseFencedException,
          InterruptedException {
    long deadline = System.nanoTime() + settings.drainTimeout().toNanos();
    while (connections.areOpen() && orders.count() > 0 && System.nanoTime() < deadline) {
      awaitConfirms();
      if (!orders.confirmed().isEmpty()) {
        settleAndClaim(0, Duration.ZERO);
      }
    }
  }

  /** Requests the lane to stop after its current round. From any thread. */
  void requestStop() {
    backoff.stop();
    connections.wake();
  }

  /** Waits for the lane to end; closes its socket to the broker at time-out. From any thread. */
  void awaitStopped(Duration wait) throws InterruptedException {
    if (!stopped.await(Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS)) {
      connections.sever();
    }
  }
}
