package io.seckill.common.redis;

import io.seckill.common.redis.RedisNode.RedisServerSettings;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.resps.ClusterShardInfo;
import redis.clients.jedis.resps.ClusterShardNodeInfo;
import redis.clients.jedis.util.JedisURIHelper;

/**
 * The servers that hold the data or may be promoted to: the one, the master and its replicas as a
 * Sentinel lists them, or the nodes of a cluster. Connects to each for one query at a time.
 */
public final class RedisNodes {

  private final RedisSettings settings;
  private final String clientName;
  private final JedisClientConfig config;

  /** CLIENT LIST shows the name to operators. */
  public RedisNodes(RedisSettings settings, String clientName) {
    this.settings = settings;
    this.clientName = clientName;
    this.config = RedisClients.serverConfig(settings, clientName);
  }

  /**
   * Queries all servers, one after the other. Those that the Sentinel or the cluster takes to be
   * down are not connected to.
   *
   * @param replicas that must have an order before "queued" is answered
   * @return every server, also one that did not answer
   * @throws JedisException when no server answers, or it is not known which servers there are
   */
  public List<RedisNode> query(int replicas) {
    List<RedisNode> nodes = new ArrayList<>();
    JedisException failure = null;
    for (Map.Entry<HostAndPort, Boolean> listed : addresses().entrySet()) {
      RedisNode node = RedisNode.unavailable(listed.getKey().toString());
      if (listed.getValue()) {
        try {
          node = query(listed.getKey(), replicas);
        } catch (JedisException e) {
          failure = e;
        }
      }
      nodes.add(node);
    }
    if (nodes.stream().noneMatch(RedisNode::isAvailable)) {
      throw failure != null ? failure : new JedisConnectionException("all are down: " + nodes);
    }
    return nodes;
  }

  private RedisNode query(HostAndPort address, int replicas) {
    try (Jedis server = new Jedis(address, config)) {
      Map<String, String> info = new HashMap<>();
      server
          .info()
          .lines()
          .map(line -> line.split(":", 2))
          .filter(parts -> parts.length == 2)
          .forEach(parts -> info.put(parts[0], parts[1]));
      return new RedisNode(
          address.toString(),
          info,
          RedisServerSettings.of(server, replicas),
          SlowWrites.of(server, info));
    }
  }

  /** The servers, and of each whether it is taken to be up. */
  private Map<HostAndPort, Boolean> addresses() {
    return switch (settings.mode()) {
      case SINGLE -> Map.of(JedisURIHelper.getHostAndPort(URI.create(settings.url())), true);
      case SENTINEL -> {
        HostAndPort master = RedisClients.presentMaster(settings, clientName);
        yield RedisClients.askAny(
            settings,
            RedisClients.sentinelConfig(settings, clientName),
            sentinel -> replicaSet(sentinel, master));
      }
      case CLUSTER -> RedisClients.askAny(settings, config, this::shards);
    };
  }

  /** As this Sentinel lists them; null when it names another master. */
  private @Nullable Map<HostAndPort, Boolean> replicaSet(Jedis sentinel, HostAndPort master) {
    if (!master.equals(RedisClients.master(sentinel, settings))) {
      return null;
    }
    Map<HostAndPort, Boolean> servers = new LinkedHashMap<>();
    servers.put(master, true);
    for (Map<String, String> replica : sentinel.sentinelReplicas(settings.master())) {
      servers.putIfAbsent(
          new HostAndPort(replica.get("ip"), Integer.parseInt(replica.get("port"))),
          !replica.getOrDefault("flags", "").matches(".*(down|disconnected).*"));
    }
    return servers;
  }

  private Map<HostAndPort, Boolean> shards(Jedis node) {
    Map<HostAndPort, Boolean> servers = new LinkedHashMap<>();
    for (ClusterShardInfo shard : node.clusterShards()) {
      for (ClusterShardNodeInfo server : shard.getNodes()) {
        Long port = RedisSettings.isTls(settings.url()) ? server.getTlsPort() : server.getPort();
        servers.put(
            new HostAndPort(server.getEndpoint(), port.intValue()),
            !server.getHealth().equals("fail"));
      }
    }
    return servers;
  }

  /**
   * Writes of the append-only file, with their fsync, that took a Redis server longer than its
   * {@code latency-monitor-threshold}. Redis's own counter of delayed fsyncs counts none with
   * {@code appendfsync always}.
   */
  static final class SlowWrites {

    private static final String EVENTS = "aof-";
    private static final double SECONDS = 60;

    private SlowWrites() {}

    /**
     * @return the longest, in seconds, of the latest of each kind within a minute; 0 without any,
     *     and when the server does not say
     * @throws redis.clients.jedis.exceptions.JedisException when Redis does not answer
     */
    static double of(Jedis server, Map<String, String> info) {
      double now = Double.parseDouble(info.getOrDefault("server_time_usec", "0")) / 1e6;
      try {
        return longest((List<?>) server.sendCommand(Protocol.Command.LATENCY, "LATEST"), now);
      } catch (JedisDataException e) {
        return 0;
      }
    }

    /**
     * @param latest of each event its name, the time in seconds and the length in ms of the latest
     *     one, and the length of the longest
     * @param now in seconds, by the server's clock
     */
    static double longest(List<?> latest, double now) {
      return latest.stream()
          .map(event -> (List<?>) event)
          .filter(event -> text(event.get(0)).startsWith(EVENTS))
          .filter(event -> now - number(event.get(1)) <= SECONDS)
          .mapToDouble(event -> number(event.get(2)) / 1e3)
          .max()
          .orElse(0);
    }

    private static String text(Object value) {
      return value instanceof byte[] bytes
          ? new String(bytes, StandardCharsets.US_ASCII)
          : value.toString();
    }

    private static double number(Object value) {
      return ((Long) value).doubleValue();
    }
  }
}
