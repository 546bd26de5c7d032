package io.seckill.common.redis;

import java.net.URI;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisURIHelper;

/** Opens Jedis clients by settings: bounded pool, bounded waits, TLS with host-name check. */
public final class RedisClients {

  private RedisClients() {}

  /**
   * A client over a pool; connections open on first use. The caller closes it.
   *
   * @param clientName shown by CLIENT LIST, for operators
   */
  public static UnifiedJedis open(RedisSettings settings, String clientName) {
    JedisClientConfig config = clientConfig(settings, clientName);
    return switch (settings.mode()) {
      case SINGLE ->
          RedisClient.builder()
              .hostAndPort(JedisURIHelper.getHostAndPort(URI.create(settings.url())))
              .clientConfig(config)
              .poolConfig(pool(settings))
              .build();
      case SENTINEL ->
          RedisSentinelClient.builder()
              .masterName(settings.master())
              .sentinels(nodes(settings))
              .clientConfig(config)
              .poolConfig(pool(settings))
              .build();
      case CLUSTER ->
          RedisClusterClient.builder()
              .nodes(nodes(settings))
              .clientConfig(config)
              .poolConfig(pool(settings))
              .build();
    };
  }

  /** Credentials, database, TLS and time-outs of the settings, for a connection outside a pool. */
  public static JedisClientConfig clientConfig(RedisSettings settings, String clientName) {
    URI uri = URI.create(settings.url());
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .clientName(clientName)
            .user(JedisURIHelper.getUser(uri))
            .password(JedisURIHelper.getPassword(uri))
            .database(JedisURIHelper.getDBIndex(uri))
            .connectionTimeoutMillis((int) settings.connectTimeout().toMillis())
            .socketTimeoutMillis((int) settings.socketTimeout().toMillis())
            .blockingSocketTimeoutMillis((int) settings.blockingSocketTimeout().toMillis());
    if (JedisURIHelper.isRedisSSLScheme(uri)) {
      config.sslOptions(SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL).build());
    }
    return config.build();
  }

  private static GenericObjectPoolConfig<Connection> pool(RedisSettings settings) {
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setMaxTotal(settings.maxConnections());
    pool.setMaxIdle(settings.maxConnections());
    pool.setMaxWait(settings.maxWait());
    return pool;
  }

  private static Set<HostAndPort> nodes(RedisSettings settings) {
    Set<HostAndPort> nodes = new LinkedHashSet<>();
    settings.nodes().forEach(node -> nodes.add(HostAndPort.from(node)));
    return nodes;
  }
}
