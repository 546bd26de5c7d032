package io.seckill.common.redis;

import io.seckill.common.settings.TrustedAuthorities;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.JedisURIHelper;

/** Opens Jedis clients from settings: bounded pool, bounded waits, TLS with host-name check. */
public final class RedisClients {

  private static final Logger log = LoggerFactory.getLogger(RedisClients.class);

  /** A server that is reachable accepts within milliseconds; purchases cannot wait for another. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(250);

  /** Longest wait for a free connection: pools are as large as the number of callers at once. */
  private static final Duration MAX_WAIT = Duration.ofMillis(100);

  private RedisClients() {}

  /**
   * Returns a client with a connection pool; connections open on first use, and so no server needs
   * to answer yet. The caller closes it. CLIENT LIST shows the name to operators.
   */
  public static UnifiedJedis open(RedisSettings settings, String clientName) {
    return switch (settings.mode()) {
      case SINGLE ->
          single(JedisURIHelper.getHostAndPort(URI.create(settings.url())), settings, clientName);
      case SENTINEL -> SentinelClients.open(settings, clientName);
      case CLUSTER -> clusterInAnyState(settings, clientName);
    };
  }

  /** Whether partitions may be on different servers, and one may be unavailable alone. */
  public static boolean areApart(UnifiedJedis redis) {
    return redis instanceof RedisClusterClient;
  }

  /**
   * As {@link #open}, but in sentinel mode connects to the current master only: for callers that
   * close the client at every failure and open another. Jedis's own sentinel client starts a thread
   * that listens for failovers, and leaks that thread when it is closed soon after.
   *
   * @throws JedisException when no Sentinel answers, or none has the master set, or no node of a
   *     cluster answers
   */
  public static UnifiedJedis openForOneMaster(RedisSettings settings, String clientName) {
    return switch (settings.mode()) {
      case SINGLE -> open(settings, clientName);
      case SENTINEL -> single(presentMaster(settings, clientName), settings, clientName);
      case CLUSTER -> cluster(settings, clientName);
    };
  }

  /**
   * The master that most Sentinels name; of two, the one that is named first. A Sentinel that is
   * cut off from the others names the former master for as long as that lasts.
   *
   * @throws JedisException when no Sentinel answers, or none has the master set
   */
  static HostAndPort presentMaster(RedisSettings settings, String clientName) {
    int majority = nodes(settings).size() / 2 + 1;
    Map<HostAndPort, Integer> named = new LinkedHashMap<>();
    try {
      return askAny(
          settings,
          sentinelConfig(settings, clientName),
          sentinel -> {
            HostAndPort master = master(sentinel, settings);
            boolean most = master != null && named.merge(master, 1, Integer::sum) == majority;
            return most ? master : null;
          });
    } catch (JedisException e) { // no majority
      return named.entrySet().stream()
          .max(Map.Entry.comparingByValue())
          .map(Map.Entry::getKey)
          .orElseThrow(() -> e);
    }
  }

  /** The master that this Sentinel names, or null when it has none. */
  static @Nullable HostAndPort master(Jedis sentinel, RedisSettings settings) {
    List<String> master = sentinel.sentinelGetMasterAddrByName(settings.master());
    return master != null && master.size() == 2
        ? new HostAndPort(master.get(0), Integer.parseInt(master.get(1)))
        : null;
  }

  /**
   * Asks one of {@code seckill.redis.nodes} after the other.
   *
   * @return the first answer that is not null
   * @throws JedisException when there is none
   */
  static <T> T askAny(
      RedisSettings settings, JedisClientConfig config, Function<Jedis, @Nullable T> question) {
    JedisException failure = null;
    for (HostAndPort node : nodes(settings)) {
      try (Jedis jedis = new Jedis(node, config)) {
        T answer = question.apply(jedis);
        if (answer != null) {
          return answer;
        }
      } catch (JedisException e) {
        failure = e;
      }
    }
    throw new JedisConnectionException(
        "none of " + nodes(settings) + " names the servers of Redis", failure);
  }

  private static UnifiedJedis single(
      HostAndPort server, RedisSettings settings, String clientName) {
    return RedisClient.builder()
        .hostAndPort(server)
        .clientConfig(clientConfig(settings, clientName))
        .poolConfig(pool(settings))
        .build();
  }

  /**
   * Jedis accepts at its start that no node answers, or that slots have no node, while a property
   * is set. Not later: one empty node of {@code nodes} would make it forget the others.
   */
  private static synchronized UnifiedJedis clusterInAnyState(
      RedisSettings settings, String clientName) {
    try {
      return cluster(settings, clientName);
    } catch (JedisException e) {
      log.warn("Redis is unavailable until a node of the cluster answers", e);
      System.setProperty(RedisClusterClient.INIT_NO_ERROR_PROPERTY, "true");
      try {
        return cluster(settings, clientName);
      } finally {
        System.clearProperty(RedisClusterClient.INIT_NO_ERROR_PROPERTY);
      }
    }
  }

  private static UnifiedJedis cluster(RedisSettings settings, String clientName) {
    return RedisClusterClient.builder()
        .nodes(nodes(settings))
        .maxTotalRetriesDuration(settings.socketTimeout()) // the default is five of these
        .clientConfig(clientConfig(settings, clientName))
        .poolConfig(pool(settings))
        .build();
  }

  /** Credentials, database, TLS and time-outs of the settings, for a connection outside a pool. */
  public static JedisClientConfig clientConfig(RedisSettings settings, String clientName) {
    return link(settings.url(), settings, clientName)
        .database(JedisURIHelper.getDBIndex(URI.create(settings.url())))
        .build();
  }

  /** As {@link #clientConfig}, for questions about the server itself. */
  static JedisClientConfig serverConfig(RedisSettings settings, String clientName) {
    return link(settings.url(), settings, clientName)
        .protocol(RedisProtocol.RESP2) // else Jedis warns that it will not try RESP3
        .build();
  }

  /** For a question: it is answered from memory, and the next Sentinel is asked after a silence. */
  static JedisClientConfig sentinelConfig(RedisSettings settings, String clientName) {
    return sentinelLink(settings, clientName)
        .socketTimeoutMillis((int) CONNECT_TIMEOUT.toMillis())
        .build();
  }

  /** Sentinels have users and TLS of their own, if their addresses say so, and no databases. */
  static DefaultJedisClientConfig.Builder sentinelLink(RedisSettings settings, String clientName) {
    String node = settings.nodes().get(0);
    String tls = RedisSettings.isTls(settings.url()) ? "rediss://" : "redis://";
    return link(node.contains("://") ? node : tls + node, settings, clientName)
        .protocol(RedisProtocol.RESP2); // else Jedis warns that it will not try RESP3
  }

  private static DefaultJedisClientConfig.Builder link(
      String url, RedisSettings settings, String clientName) {
    URI uri = URI.create(url);
    DefaultJedisClientConfig.Builder link =
        DefaultJedisClientConfig.builder()
            .user(JedisURIHelper.getUser(uri))
            .password(JedisURIHelper.getPassword(uri))
            .clientName(clientName)
            .connectionTimeoutMillis((int) CONNECT_TIMEOUT.toMillis())
            .socketTimeoutMillis((int) settings.socketTimeout().toMillis())
            // Jedis's default is to wait for ever
            .blockingSocketTimeoutMillis((int) settings.socketTimeout().toMillis());
    if (RedisSettings.isTls(url)) {
      link.sslOptions(tls(settings.caFile()));
    }
    return link;
  }

  /** The certificate must come from a trusted authority and name the host. */
  private static SslOptions tls(@Nullable Path caFile) {
    SslOptions.Builder tls = SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL);
    if (caFile != null) {
      byte[] trusted = TrustedAuthorities.pkcs12(caFile);
      tls.trustStoreType("PKCS12").truststore(() -> new ByteArrayInputStream(trusted), new char[0]);
    }
    return tls.build();
  }

  static GenericObjectPoolConfig<Connection> pool(RedisSettings settings) {
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setMaxTotal(settings.maxConnections());
    pool.setMaxIdle(settings.maxConnections());
    pool.setMaxWait(MAX_WAIT);
    return pool;
  }

  static Set<HostAndPort> nodes(RedisSettings settings) {
    Set<HostAndPort> nodes = new LinkedHashSet<>();
    settings.nodes().forEach(node -> nodes.add(HostAndPort.from(RedisSettings.address(node))));
    return nodes;
  }
}
