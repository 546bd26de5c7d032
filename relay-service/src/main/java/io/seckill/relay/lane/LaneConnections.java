package io.seckill.relay.lane;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.BrokerFailureException;
import io.seckill.relay.publish.PublisherChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/**
 * A lane's connection to the broker and its connection to Redis. A broken connection is closed and
 * replaced, never repaired. Only the lane's thread uses this object, except for {@link #sever}.
 */
final class LaneConnections {

  private final String name;
  private final RedisSettings redisSettings;
  private final BrokerConnector broker;

  private volatile @Nullable PublisherChannel link;
  private @Nullable UnifiedJedis redis;

  /** Whether the broker refused orders: a queue or binding may be missing. */
  private boolean redeclare;

  /**
   * @param name shown by both servers, for operators
   * @param poll longest wait of one BRPOPLPUSH
   */
  LaneConnections(String name, Duration poll, RedisSettings redis, BrokerConnector broker) {
    this.name = name;
    this.redisSettings = patientFor(poll, redis);
    this.broker = broker;
  }

  /** Settings for one connection, with time-outs longer than the wait of BRPOPLPUSH. */
  private static RedisSettings patientFor(Duration poll, RedisSettings from) {
    Duration patience = poll.plus(from.socketTimeout());
    return new RedisSettings(
        from.mode(),
        from.url(),
        from.nodes(),
        from.master(),
        1,
        from.maxWait(),
        from.connectTimeout(),
        patience,
        patience,
        from.caFile());
  }

  /** Opens what is not open, and declares the topology again when orders were refused. */
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
  }

  boolean areOpen() {
    return link != null && redis != null;
  }

  PublisherChannel link() {
    PublisherChannel current = link;
    if (current == null) {
      throw new IllegalStateException("not connected to the broker");
    }
    return current;
  }

  /** Null after one link is closed and before the next is open. */
  @Nullable PublisherChannel linkIfOpen() {
    return link;
  }

  UnifiedJedis redis() {
    UnifiedJedis current = redis;
    if (current == null) {
      throw new IllegalStateException("not connected to Redis");
    }
    return current;
  }

  /** Null after one connection is closed and before the next is open. */
  @Nullable UnifiedJedis redisIfOpen() {
    return redis;
  }

  /** Makes the next {@link #open} declare queues and bindings again. */
  void declareAgain() {
    redeclare = true;
  }

  /** Reports the failure to the circuit breaker if the broker is unavailable or silent. */
  void linkBroke(BrokerFailureException cause) {
    PublisherChannel broken = link;
    if (broken != null && broken.isUnavailable()) {
      broker.linkBroken(cause);
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
    redis = null;
    if (current != null) {
      current.close();
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
