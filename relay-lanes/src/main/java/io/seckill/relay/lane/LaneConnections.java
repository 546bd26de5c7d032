package io.seckill.relay.lane;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.publish.PublisherChannel;
import io.seckill.relay.recovery.LaneLease;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A lane's connection to the broker, its connection to Redis, and over that its private queue. A
 * broken connection is closed and replaced, never repaired. Only the lane's thread uses this
 * object, except for {@link #sever}.
 */
final class LaneConnections {

  private static final Logger log = LoggerFactory.getLogger(LaneConnections.class);

  private final String name;
  private final RedisSettings redisSettings;
  private final BrokerConnector broker;
  private final LaneLease lease;

  private volatile @Nullable PublisherChannel link;
  private @Nullable UnifiedJedis redis;
  private @Nullable PrivateQueue queue;

  /** Whether the broker refused orders: a queue or binding may be missing. */
  private boolean redeclare;

  /**
   * @param name shown by both servers, for operators
   * @param poll longest wait of one BRPOPLPUSH
   */
  LaneConnections(
      String name, Duration poll, RedisSettings redis, BrokerConnector broker, LaneLease lease) {
    this.name = name;
    this.redisSettings =
        redis.withMaxConnections(1).withSocketTimeout(poll.plus(redis.socketTimeout()));
    this.broker = broker;
    this.lease = lease;
  }

  /**
   * Opens the missing connections, declares the topology again when orders were refused, and begins
   * a lease when there is none.
   */
  void open() throws BrokerFailureException {
    PublisherChannel current = link;
    if (current == null) {
      link = broker.open(name);
    } else if (redeclare) {
      current.declareTopology();
    }
    redeclare = false;
    if (redis == null) {
      redis = RedisClients.openForOneMaster(redisSettings, name);
    }
    if (queue == null) {
      queue = queueOver(redis);
    }
  }

  private PrivateQueue queueOver(UnifiedJedis connection) {
    String token = lease.token();
    return new PrivateQueue(
        connection, lease.partition(), token == null ? lease.begin(connection) : token);
  }

  boolean areOpen() {
    return link != null && queue != null;
  }

  PublisherChannel link() {
    return Objects.requireNonNull(link, "not connected to the broker");
  }

  PrivateQueue queue() {
    return Objects.requireNonNull(queue, "not connected to Redis, or without a lease");
  }

  /** Makes the next {@link #open} declare queues and bindings again. */
  void declareAgain() {
    redeclare = true;
  }

  /**
   * Closes a broken link, if one was open; reports it to the circuit breaker if the broker is
   * unavailable or silent.
   *
   * @param confirmed receives the orders that were confirmed until then
   */
  void dropBrokenLink(BrokerFailureException cause, List<OutboundOrder> confirmed) {
    PublisherChannel broken = link;
    if (broken != null) {
      if (broken.isUnavailable()) {
        broker.linkBroken(cause);
      }
      broken.drainConfirmed(confirmed);
      dropLink();
    }
  }

  void dropLink() {
    PublisherChannel current = link;
    link = null;
    if (current != null) {
      current.close();
    }
  }

  void dropRedis() {
    UnifiedJedis current = redis;
    queue = null;
    redis = null;
    if (current != null) {
      current.close();
    }
  }

  /** Gives up the private queue and its lease; other lanes adopt its orders. */
  void endLease() {
    queue = null;
    if (redis != null) {
      lease.end(redis);
    }
  }

  /** Gives up the private queue and its lease, and begins another. */
  void beginNewLease() throws BrokerFailureException {
    endLease();
    open();
  }

  void close() {
    dropLink(); // first: nothing may be published after the lease
    try {
      endLease();
    } catch (JedisException e) {
      log.warn("lane {}: cannot release its lease, it will expire: {}", name, e.toString());
    } finally {
      dropRedis();
    }
  }

  /** Ends the lane's wait for the broker at once. From any thread. */
  void wake() {
    PublisherChannel current = link;
    if (current != null) {
      current.wake();
    }
  }

  /** Closes the socket to the broker while the lane may be using it. From any thread. */
  void sever() {
    PublisherChannel stuck = link;
    if (stuck != null) {
      stuck.sever();
    }
  }
}
