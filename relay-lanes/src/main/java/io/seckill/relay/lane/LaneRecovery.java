package io.seckill.relay.lane;

import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OrdersRefusedException;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.Backoff;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The recovery of a lane after a failure: it closes the connection concerned, corrects {@link
 * UnsettledOrders}, enters the failure's {@link LaneState} and pauses. Then the lane tries again.
 */
record LaneRecovery(
    LaneConnections connections,
    LaneLease lease,
    UnsettledOrders orders,
    LaneStatus status,
    Backoff backoff,
    RelayMeters meters) {

  private static final Logger log = LoggerFactory.getLogger(LaneRecovery.class);

  /**
   * Refusals in a row after which the channel is replaced: a channel that has met a full quorum
   * queue keeps refusing after the limit is lifted, until consumers have emptied the queue.
   */
  private static final int REFUSALS_PER_LINK = 3;

  /** Wait between checks of a full Redis, or of a broker that is blocked or has not answered. */
  private static final Duration RECHECK = Duration.ofMillis(100);

  /** Part of a lane's work, up to its first failure. */
  interface Attempt {
    void run()
        throws BrokerFailureException,
            OrdersRefusedException,
            LeaseFencedException,
            InterruptedException;
  }

  /** Works until a failure or the end of the work; returns when the lane may try again. */
  void attempt(Attempt work) throws InterruptedException {
    try {
      work.run();
    } catch (LeaseFencedException e) {
      leaseFenced(e);
    } catch (OrdersRefusedException e) {
      ordersRefused(e);
    } catch (BrokerFailureException e) {
      brokerFailed(e);
    } catch (JedisException e) {
      redisFailed(e);
    } catch (RuntimeException | Error e) { // an Error may be over soon, a dead lane is for good
      unexpected(e);
    }
  }

  /** Works until a failure, after which the lane ends; other lanes adopt its orders. */
  void lastAttempt(Attempt work) throws InterruptedException {
    try {
      work.run();
    } catch (BrokerFailureException
        | OrdersRefusedException
        | LeaseFencedException
        | JedisException e) {
      log.warn(
          "lane {}: stops with {} orders in its private queue: {}",
          status.lane(),
          orders.count(),
          e.toString());
    }
  }

  /** Keeps the lease while the lane waits for the broker, not while it only tries again. */
  void waited() {
    if (keepsLease()) {
      lease.worked();
    }
  }

  /** One that has failed keeps it until its next link fails, and by progress. */
  boolean keepsLease() {
    return !status.isFailing()
        || (status.state() == LaneState.BROKER_UNAVAILABLE && !orders.areFruitless());
  }

  /** Redis is full and refused to wait for an order. */
  void redisFull() throws InterruptedException {
    backoff.pause(RECHECK);
  }

  /** An alarm of the broker blocks the link: publishes nothing, and keeps the link. */
  void blocked() throws InterruptedException {
    status.enter(LaneState.BLOCKED, "an alarm of the broker blocks publishing");
    backoff.pause(RECHECK);
    if (!connections.link().isBlocked()) {
      status.enter(LaneState.RUNNING, "");
    }
  }

  /** Gives the private queue up to other lanes; the lane continues with a new lease. */
  private void leaseFenced(LeaseFencedException cause) throws InterruptedException {
    log.warn(
        "lane {}: {}: fenced by another lane, or missing in the registry; taking a new one",
        status.lane(),
        cause.getMessage());
    meters.leaseFenced();
    connections.dropLink(); // another lane may own the orders that later answers are for
    orders.leaseLost();
    status.outstanding(0, 0);
    try {
      connections.endLease();
    } catch (JedisException e) {
      log.warn(
          "lane {}: cannot register the end of its lease; the renewer finds the queue of a fenced"
              + " lease, the orphan search one that is not registered: {}",
          status.lane(),
          e.toString());
    }
    backoff.pause();
  }

  /** Declares the topology again before the next attempt; keeps the link unless refused often. */
  private void ordersRefused(OrdersRefusedException cause) throws InterruptedException {
    try {
      awaitEndOfRefusedBatch();
    } catch (BrokerFailureException e) {
      brokerFailed(e);
      return;
    }
    orders.refused(connections.link().drainConfirmed(orders.confirmed()));
    connections.declareAgain();
    if (status.refused() % REFUSALS_PER_LINK == 0) {
      loseLink();
    }
    retryAfter(LaneState.BROKER_UNAVAILABLE, String.valueOf(cause.getMessage()));
  }

  /** Waits for the other answers; further refusals of the batch count as the same refusal. */
  private void awaitEndOfRefusedBatch() throws BrokerFailureException, InterruptedException {
    while (connections.link().pending() > 0 && !backoff.isStopped()) {
      connections.link().awaitAnswered(RECHECK);
      waited();
      connections.link().checkFailure();
    }
    connections.link().forgetRefusal();
  }

  /** The link broke, could not be opened, or is silent: replaces it. */
  private void brokerFailed(BrokerFailureException cause) throws InterruptedException {
    connections.dropBrokenLink(cause, orders.confirmed());
    loseLink();
    retryAfter(LaneState.BROKER_UNAVAILABLE, String.valueOf(cause.getMessage()));
  }

  /** The outcome of the last command is unknown: replaces the connection to Redis. */
  private void redisFailed(Throwable cause) throws InterruptedException {
    connections.dropRedis(); // the next connection may find another master
    orders.queueUnknown();
    retryAfter(LaneState.REDIS_UNAVAILABLE, cause.toString());
  }

  private void unexpected(Throwable cause) throws InterruptedException {
    log.error("lane {}: unexpected failure, the lane reconnects", status.lane(), cause);
    loseLink();
    redisFailed(cause);
  }

  private void loseLink() {
    connections.dropLink();
    orders.linkLost();
    status.outstanding(status.outstanding(), 0); // they stay in the private queue
  }

  private void retryAfter(LaneState failure, String reason) throws InterruptedException {
    status.enter(failure, reason);
    backoff.pause();
    status.retrying();
  }
}
