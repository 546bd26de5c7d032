package io.seckill.common.redis;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.SentineledConnectionProvider;
import redis.clients.jedis.util.Delay;

/** Opens Jedis's sentinel client, with one thread for each Sentinel that listens for failovers. */
final class SentinelClients {

  private static final Logger log = LoggerFactory.getLogger(SentinelClients.class);

  /**
   * A missed announcement of a new master is found out after this. Not more often: until the other
   * Sentinels have announced a failover to a Sentinel, 2 s later, it names the former master.
   */
  private static final Duration SILENCE_OF_A_SENTINEL = Duration.ofMinutes(1);

  /** Pauses after failures of a subscription, doubled each time. Meanwhile the listener is deaf. */
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(500);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  /** No server can have this port, so commands fail at once. */
  private static final HostAndPort NO_MASTER = new HostAndPort("127.0.0.1", 0);

  private SentinelClients() {}

  /** {@link RedisClients#open} in sentinel mode. */
  static RedisSentinelClient open(RedisSettings settings, String clientName) {
    return open(settings, clientName, SILENCE_OF_A_SENTINEL);
  }

  /** As {@link #open(RedisSettings, String)}, with this time-out of a subscription. */
  static RedisSentinelClient open(RedisSettings settings, String clientName, Duration silence) {
    String master = Objects.requireNonNull(settings.master());
    JedisClientConfig config = RedisClients.clientConfig(settings, clientName);
    Set<HostAndPort> sentinels = RedisClients.nodes(settings);
    AtomicBoolean isStarting = new AtomicBoolean(true);
    return RedisSentinelClient.builder()
        .masterName(master)
        .sentinels(sentinels)
        .clientConfig(config)
        .connectionProvider(
            new SentineledConnectionProvider(
                master,
                config,
                RedisClients.pool(settings),
                sentinels,
                RedisClients.sentinelLink(settings, clientName)
                    .blockingSocketTimeoutMillis((int) silence.toMillis())
                    .build(),
                Delay.exponentialWithJitter(SHORTEST_PAUSE, LONGEST_PAUSE, SHORTEST_PAUSE)) {

              /** Jedis's constructor calls this: variables of the method are there, no fields. */
              @Override
              protected SentinelConnectionFactory defaultSentinelConnectionFactory() {
                return (address, link) ->
                    isStarting.getAndSet(false)
                        ? new FirstMaster(settings, clientName)
                        : new Sentinel(address, link, settings, clientName);
              }
            })
        .build();
  }

  /** As Jedis reads it from a Sentinel. */
  private static List<String> reply(HostAndPort master) {
    return List.of(master.getHost(), Integer.toString(master.getPort()));
  }

  /**
   * Answers the question of Jedis's constructor, which would fail without a master, and connects to
   * nobody for it. The listeners look for the master later.
   */
  private static final class FirstMaster extends Jedis {

    private final RedisSettings settings;
    private final String clientName;

    FirstMaster(RedisSettings settings, String clientName) {
      this.settings = settings;
      this.clientName = clientName;
    }

    @Override
    public List<String> sentinelGetMasterAddrByName(String masterName) {
      try {
        return reply(RedisClients.presentMaster(settings, clientName));
      } catch (JedisException e) {
        log.warn("Redis is unavailable until a Sentinel names its master", e);
        return reply(NO_MASTER);
      }
    }
  }

  /**
   * A Sentinel as Jedis uses it: it asks each one for the master, for which all are asked here, and
   * subscribes to it. A subscription that has been silent for its time-out is made anew, because
   * silence may also be a machine without power, or a firewall that has forgotten the connection.
   * That is no failure, so it is neither logged nor delayed.
   */
  private static final class Sentinel extends Jedis {

    private final RedisSettings settings;
    private final String clientName;

    Sentinel(
        HostAndPort address, JedisClientConfig config, RedisSettings settings, String clientName) {
      super(address, config);
      this.settings = settings;
      this.clientName = clientName;
    }

    @Override
    public List<String> sentinelGetMasterAddrByName(String masterName) {
      return reply(RedisClients.presentMaster(settings, clientName));
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
