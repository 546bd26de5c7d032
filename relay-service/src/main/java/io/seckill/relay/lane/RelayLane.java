package io.seckill.relay.lane;

import io.seckill.common.order.OrderTrail;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.metrics.RelayMeters;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OrdersRefusedException;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.publish.PublisherChannel;
import io.seckill.relay.recovery.DeadQueues;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One thread that publishes the orders of one partition from the outbox to the broker, with one
 * connection to Redis, one to the broker, and one private queue. Only this thread takes and
 * publishes orders; confirms arrive on the broker connection's thread.
 *
 * <p>An order leaves the private queue only after its confirm. After any error, and at the start of
 * a connection, the lane does not know what its private queue holds, except for confirmed orders:
 * it settles those, publishes the rest again, and takes new orders when the queue is empty.
 */
final class RelayLane implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(RelayLane.class);

  /**
   * Longest wait for confirms before polling the outbox again. A shorter wait lowers the latency, a
   * longer one saves round trips.
   */
  private static final Duration CONFIRM_PAUSE = Duration.ofMillis(4);

  /** Time without failures after which a lane counts as running again. */
  private static final Duration CALM = Duration.ofSeconds(1);

  /**
   * Refusals in a row after which the channel is replaced: a channel that has met a full quorum
   * queue keeps refusing after the limit is lifted, until consumers have emptied the queue.
   */
  private static final int REFUSALS_PER_LINK = 3;

  /** Wait between checks of a full Redis, or of a blocked or silent broker. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final String name;
  private final RelaySettings settings;
  private final LaneConnections connections;
  private final LaneLease lease;
  private final LaneStatus status;
  private final RelayMeters meters;
  private final Backoff backoff;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);

  private @Nullable PrivateQueue queue;

  /** Confirmed by the broker, not yet removed from the private queue. Kept across reconnects. */
  private List<OutboundOrder> confirmed = new ArrayList<>();

  /** Orders published on the current link, or confirmed, that are not settled. */
  private int outstanding;

  /** Refusals since the lane was last {@link LaneState#RUNNING}. */
  private int refusals;

  /** Time of the last failure, nanoTime; 0 = none yet. */
  private long failedAt;

  /** Checks in a row that found no new confirm; a silent broker is checked less often. */
  private int quietRounds;

  /** Whether the private queue may hold orders that are not counted in {@link #outstanding}. */
  private boolean unresolved = true;

  RelayLane(
      String name,
      RelaySettings settings,
      RedisSettings redisSettings,
      BrokerConnector broker,
      LaneLease lease,
      RelayMeters meters) {
    this.name = name;
    this.settings = settings;
    this.connections = new LaneConnections(name, settings.pollInterval(), redisSettings, broker);
    this.lease = lease;
    this.status = new LaneStatus(name, lease.partition());
    this.meters = meters;
    this.backoff = new Backoff(settings.backOff(), settings.maxBackOff());
  }

  LaneStatus status() {
    return status;
  }

  @Override
  public void run() {
    try {
      while (!stopping()) {
        attempt();
      }
      drain();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      connections.dropLink(); // before release(): nothing may be published after it
      release();
      status.enter(LaneState.STOPPED, "");
      stopped.countDown();
    }
  }

  /** Works until something breaks or the lane is to stop. */
  private void attempt() throws InterruptedException {
    try {
      connect();
      recover();
      while (!stopping()) {
        round();
      }
    } catch (LeaseFencedException e) {
      leaveFencedLease();
    } catch (OrdersRefusedException e) {
      refused(e);
    } catch (BrokerFailureException e) {
      brokerFailed(e);
    } catch (JedisException e) {
      redisFailed(e);
    } catch (RuntimeException e) {
      log.error("lane {}: unexpected exception, the lane reconnects", name, e);
      connections.dropLink();
      forgetOutstanding();
      redisFailed(e);
    }
  }

  private void connect() throws BrokerFailureException {
    connections.open();
    if (queue == null) {
      queue = new PrivateQueue(lease.partition(), lease.begin(redis()));
      unresolved = false;
    }
  }

  /**
   * Settles the confirmed orders and publishes the rest of the private queue again, page by page.
   * First waits for the answers to publishes in flight, so that only orders with an unknown outcome
   * are sent twice.
   */
  private void recover()
      throws BrokerFailureException,
          OrdersRefusedException,
          LeaseFencedException,
          InterruptedException {
    while (unresolved && !stopping()) {
      while (outstanding > 0 && !stopping()) {
        settleOnly();
      }
      if (stopping()) {
        return;
      }
      List<byte[]> left = queue().contents(redis(), settings.maxUnconfirmed());
      unresolved = !left.isEmpty();
      meters.republished(left.size());
      publish(left);
    }
  }

  private void settleOnly()
      throws BrokerFailureException,
          OrdersRefusedException,
          LeaseFencedException,
          InterruptedException {
    awaitConfirms();
    if (!confirmed.isEmpty()) {
      settleAndClaim(0, Duration.ZERO);
    }
  }

  private void round()
      throws BrokerFailureException,
          OrdersRefusedException,
          LeaseFencedException,
          InterruptedException {
    awaitConfirms();
    if (link().isBlocked()) {
      blocked();
      return;
    }
    int room = Math.min(settings.maxUnconfirmed() - outstanding + confirmed.size(), link().room());
    room -= adoptUpTo(room); // before new orders: these have waited longest
    if (room == 0 && confirmed.isEmpty()) {
      return;
    }
    boolean idle = outstanding == 0;
    ClaimResult claimed = settleAndClaim(room, idle ? settings.pollInterval() : Duration.ZERO);
    publish(claimed.taken());
    unresolved = claimed.queueLength() > outstanding;
    recover();
    if (claimed.refused() && claimed.taken().isEmpty()) {
      stop.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Waits briefly for confirms; returns at once when nothing is in flight. */
  private void awaitConfirms()
      throws BrokerFailureException, OrdersRefusedException, InterruptedException {
    Duration pause = quietRounds < 4 ? CONFIRM_PAUSE : PAUSE;
    link().awaitConfirmed(Math.max(1, settings.maxUnconfirmed() / 4), pause);
    link().drainConfirmed(confirmed);
    quietRounds = confirmed.isEmpty() ? quietRounds + 1 : 0;
    lease.worked();
    link().check();
  }

  private ClaimResult settleAndClaim(int most, Duration wait) throws LeaseFencedException {
    ClaimResult claimed = queue().settleAndClaim(redis(), confirmed, most, wait);
    if (!confirmed.isEmpty() || !claimed.taken().isEmpty() || claimed.queueLength() == 0) {
      status.moved();
      calm();
    }
    meters.settled(confirmed.size());
    mark(confirmed, "confirmed");
    outstanding -= confirmed.size();
    confirmed.clear();
    status.outstanding(outstanding, link().pending());
    backoff.reset();
    return claimed;
  }

  private void publish(List<byte[]> entries) throws BrokerFailureException {
    if (entries.isEmpty()) {
      return;
    }
    List<OutboundOrder> orders = new ArrayList<>(entries.size());
    for (byte[] entry : entries) {
      orders.add(read(entry));
    }
    outstanding += orders.size();
    mark(orders, "published");
    link().publish(orders);
    status.outstanding(outstanding, link().pending());
  }

  private static void mark(List<OutboundOrder> orders, String stage) {
    if (OrderTrail.isOn()) {
      for (OutboundOrder order : orders) {
        if (order.message() != null) {
          OrderTrail.mark(order.message(), stage);
        }
      }
    }
  }

  private OutboundOrder read(byte[] entry) {
    OutboundOrder order = OutboundOrder.of(entry);
    if (order.defect() != null) {
      meters.unreadable();
      log.error("lane {}: unreadable outbox entry becomes a dead letter: {}", name, order.defect());
    }
    return order;
  }

  /** Returns how many orders were adopted and published, 0..room. */
  private int adoptUpTo(int room) throws BrokerFailureException, LeaseFencedException {
    int adopted = 0;
    for (String dead : lease.deadLeases()) {
      if (adopted < room && !dead.equals(queue().token())) {
        adopted += adopt(dead, room - adopted);
      }
    }
    return adopted;
  }

  private int adopt(String dead, int room) throws BrokerFailureException, LeaseFencedException {
    List<byte[]> orders = DeadQueues.adopt(redis(), lease.partition(), queue().token(), dead, room);
    if (!orders.isEmpty()) {
      log.info("lane {}: adopted {} orders of {}", name, orders.size(), dead);
      meters.adopted(orders.size());
      publish(orders);
    }
    return orders.size();
  }

  private void blocked() throws InterruptedException {
    status.enter(LaneState.BLOCKED, "an alarm of the broker blocks publishing");
    stop.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    if (!link().isBlocked()) {
      status.enter(LaneState.RUNNING, "");
    }
  }

  private void leaveFencedLease() throws InterruptedException {
    log.warn("lane {}: lease {} was fenced by another lane, taking a new one", name, lease.token());
    meters.leaseFenced();
    connections.dropLink(); // another lane may own the orders that later answers are for
    confirmed.clear();
    forgetOutstanding();
    queue = null;
    try {
      lease.end(redis());
      pause();
    } catch (JedisException e) {
      log.warn(
          "lane {}: cannot retire the ended lease, the orphan search will: {}", name, e.toString());
    }
  }

  private void refused(OrdersRefusedException cause) throws InterruptedException {
    try {
      awaitEndOfRefusedBatch();
    } catch (BrokerFailureException e) {
      brokerFailed(e);
      return;
    }
    outstanding = link().drainConfirmed(confirmed) + confirmed.size();
    unresolved = true;
    connections.declareAgain();
    if (++refusals % REFUSALS_PER_LINK == 0) {
      connections.dropLink();
      forgetOutstanding();
    }
    enterAndPause(LaneState.BROKER_UNAVAILABLE, String.valueOf(cause.getMessage()));
  }

  /** Waits for the other answers; further refusals of the batch count as the same refusal. */
  private void awaitEndOfRefusedBatch() throws BrokerFailureException, InterruptedException {
    while (link().pending() > 0 && !stopping()) {
      link().awaitAnswered(PAUSE);
      lease.worked();
      link().checkFailure();
    }
    link().forgetRefusal();
  }

  private void brokerFailed(BrokerFailureException cause) throws InterruptedException {
    connections.linkBroke(cause);
    PublisherChannel broken = connections.linkIfOpen();
    if (broken != null) {
      broken.drainConfirmed(confirmed);
    }
    connections.dropLink();
    forgetOutstanding();
    enterAndPause(LaneState.BROKER_UNAVAILABLE, String.valueOf(cause.getMessage()));
  }

  private void redisFailed(RuntimeException cause) throws InterruptedException {
    connections.dropRedis(); // the next connection may find another master
    unresolved = true;
    enterAndPause(LaneState.REDIS_UNAVAILABLE, cause.toString());
  }

  private void enterAndPause(LaneState state, String reason) throws InterruptedException {
    status.enter(state, reason);
    pause();
    failedAt = System.nanoTime();
  }

  /**
   * Ends the failure when it has not recurred for {@link #CALM}: one log line per change, not per
   * attempt.
   */
  private void calm() {
    if (failedAt == 0 || System.nanoTime() - failedAt > CALM.toNanos()) {
      status.enter(LaneState.RUNNING, "");
      refusals = 0;
    }
  }

  /** Treats the outcome of every unconfirmed publish as unknown from now on. */
  private void forgetOutstanding() {
    outstanding = confirmed.size();
    unresolved = true;
    status.outstanding(outstanding, 0);
  }

  private void pause() throws InterruptedException {
    stop.await(backoff.next().toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Waits for the confirms in flight and settles them; other lanes adopt the remaining orders. */
  private void drain() throws InterruptedException {
    long deadline = System.nanoTime() + settings.drainTimeout().toNanos();
    try {
      while (connections.areOpen() && outstanding > 0 && System.nanoTime() < deadline) {
        settleOnly();
      }
    } catch (BrokerFailureException
        | OrdersRefusedException
        | LeaseFencedException
        | JedisException e) {
      log.warn(
          "lane {}: stops with {} orders in its private queue: {}",
          name,
          outstanding,
          e.toString());
    }
  }

  private void release() {
    try {
      UnifiedJedis redis = connections.redisIfOpen();
      if (redis != null) {
        lease.end(redis);
      }
    } catch (JedisException e) {
      log.warn("lane {}: cannot release its lease, it will expire: {}", name, e.toString());
    } finally {
      connections.dropRedis();
    }
  }

  private boolean stopping() {
    return stop.getCount() == 0;
  }

  /** Requests the lane to stop after its current round. From any thread. */
  void requestStop() {
    stop.countDown();
  }

  /** Waits for the lane to end; closes its socket to the broker at time-out. From any thread. */
  void awaitStopped(Duration wait) throws InterruptedException {
    if (!stopped.await(Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS)) {
      connections.sever();
    }
  }

  private PublisherChannel link() {
    return connections.link();
  }

  private UnifiedJedis redis() {
    return connections.redis();
  }

  private PrivateQueue queue() {
    PrivateQueue current = queue;
    if (current == null) {
      throw new IllegalStateException("the lane holds no lease");
    }
    return current;
  }
}
