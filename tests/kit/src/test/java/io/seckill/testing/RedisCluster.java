package io.seckill.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.util.JedisClusterCRC16;

/** Three masters that share the slots of a Redis Cluster. Child processes only. */
public final class RedisCluster implements AutoCloseable {

  private static final Duration SOON = Duration.ofMinutes(2);
  private static final int NODES = 3;
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /**
   * Starts the cluster and waits until every slot is served and every node knows the others.
   *
   * @param lines lines of redis.conf, for every node
   */
  public static RedisCluster start(String... lines) {
    RedisCluster cluster = new RedisCluster();
    List<Integer> busPorts = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      busPorts.add(Ports.free());
      List<String> all = new ArrayList<>(List.of(lines));
      all.add("cluster-enabled yes");
      all.add("cluster-port " + busPorts.get(i));
      all.add("cluster-node-timeout 2000");
      all.add("cluster-require-full-coverage no");
      cluster.nodes.add(RedisServer.start(all.toArray(String[]::new)));
    }
    for (int i = 0; i < NODES; i++) {
      try (Jedis jedis = cluster.connect(i)) {
        jedis.clusterAddSlotsRange(i * SLOTS / NODES, (i + 1) * SLOTS / NODES - 1);
        jedis.clusterSetConfigEpoch(i + 1);
        RedisServer first = cluster.nodes.get(0);
        if (i > 0) {
          jedis.sendCommand(
              Command.CLUSTER,
              "MEET",
              first.host(),
              Integer.toString(first.port()),
              Integer.toString(busPorts.get(0)));
        }
      }
    }
    cluster.awaitAgreement();
    return cluster;
  }

  /** Waits until every node reports that every slot is served by a reachable node. */
  public void awaitAgreement() {
    for (int i = 0; i < NODES; i++) {
      int node = i;
      await("node " + i + " to see the whole cluster")
          .atMost(SOON)
          .ignoreExceptions()
          .until(
              () -> {
                try (Jedis jedis = connect(node)) {
                  String info = jedis.clusterInfo();
                  return info.contains("cluster_state:ok")
                      && info.contains("cluster_slots_ok:" + SLOTS)
                      && info.contains("cluster_known_nodes:" + NODES);
                }
              });
    }
  }

  /** The value for {@code seckill.redis.nodes}. */
  public List<String> nodes() {
    return nodes.stream().map(node -> node.host() + ":" + node.port()).toList();
  }

  /** One node's server, for fault injection. */
  public RedisServer node(int number) {
    return nodes.get(number);
  }

  /** Number of the node that serves a key. */
  public int nodeOf(String key) {
    int slot = JedisClusterCRC16.getSlot(key);
    int node = 0;
    while (slot >= (node + 1) * SLOTS / NODES) {
      node++;
    }
    return node;
  }

  private Jedis connect(int node) {
    return new Jedis(nodes.get(node).host(), nodes.get(node).port());
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
