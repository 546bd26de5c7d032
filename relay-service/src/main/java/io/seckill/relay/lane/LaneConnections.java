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
 * A lane's one connection to the broker and one to Redis. What broke is dropped, never mended. Only
 * the lane's thread uses it, but for {@link #sever}.
 */
final class LaneConnections {

  private final String name;
  private final RedisSettings redisSettings;
  private final BrokerConnector broker;

  private volatile @Nullable PublisherChannel link;
  private @Nullable UnifiedJedis redis;

  /** Whether something was refused: a queue or binding may be missing. */
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

  /** One connection, whose time-outs lie above the wait of BRPOPLPUSH. */
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

  /** Opens what is not open, and declares the topology again when something was refused. */
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

  /** Null between the drop of one link and the opening of the next. */
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

  /** Null between the drop of one connection and the opening of the next. */
  @Nullable UnifiedJedis redisIfOpen() {
    return redis;
  }

  /** The next {@link #open} looks after queues and bindings. */
  void declareAgain() {
    redeclare = true;
  }

  /** Tells the circuit breaker when the link broke without the lane's doing. */
  void linkBroke(BrokerFailureException cause) {
    PublisherChannel broken = link;
    if (broken != null && broken.isAway()) {
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

  /** Cuts the link to the broker under the lane. From any thread. */
  void sever() {
    PublisherChannel stuck = link;
    if (stuck != null) {
      stuck.sever();
    }
  }
}
