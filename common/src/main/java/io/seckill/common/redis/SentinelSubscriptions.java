package io.seckill.common.redis;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Set;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.providers.SentineledConnectionProvider;
import redis.clients.jedis.util.Delay;

/**
 * Connections to the master that Sentinels announce. Jedis subscribes to each Sentinel, and asks it
 * for the master first. A subscription that has been silent for its time-out is made anew, because
 * silence may also be a machine without power, or a firewall that has forgotten the connection.
 * That is no failure, so it is neither logged nor delayed.
 */
final class SentinelSubscriptions extends SentineledConnectionProvider {

  /** Pauses after failures: half a second, doubled up to five. Meanwhile the listener is deaf. */
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(500);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  SentinelSubscriptions(
      String master,
      JedisClientConfig masterConfig,
      GenericObjectPoolConfig<Connection> pool,
      Set<HostAndPort> sentinels,
      JedisClientConfig sentinelConfig) {
    super(
        master,
        masterConfig,
        pool,
        sentinels,
        sentinelConfig,
        Delay.exponentialWithJitter(SHORTEST_PAUSE, LONGEST_PAUSE, SHORTEST_PAUSE));
  }

  @Override
  protected SentinelConnectionFactory defaultSentinelConnectionFactory() {
    return Sentinel::new;
  }

  private static final class Sentinel extends Jedis {

    Sentinel(HostAndPort address, JedisClientConfig config) {
      super(address, config);
    }

    @Override
    public void subscribe(JedisPubSub listener, String... channels) {
      try {
        super.subscribe(listener, channels);
      } catch (JedisConnectionException e) {
        if (!(e.getCause() instanceof SocketTimeoutException)) {
          throw e;
        }
      }
    }
  }
}
