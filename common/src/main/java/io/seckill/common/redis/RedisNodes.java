package io.seckill.common.redis;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
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

  /**
   * @param clientName shown by CLIENT LIST, for operators
   */
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
      case SENTINEL ->
          RedisClients.askAny(
              settings, RedisClients.sentinelConfig(settings, clientName), this::replicaSet);
      case CLUSTER -> RedisClients.askAny(settings, config, this::shards);
    };
  }

  private @Nullable Map<HostAndPort, Boolean> replicaSet(Jedis sentinel) {
    HostAndPort master = RedisClients.master(sentinel, settings);
    if (master == null) {
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
}
