package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.params.MigrateParams;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * A Redis Cluster: three primaries that share the slots, with a replica each or without. Child
 * processes only.
 */
public final class RedisCluster implements AutoCloseable {

  private static final int PRIMARIES = 3;
  private static final int SLOTS = 16_384;
  private static final int KEYS_AT_ONCE = 10;
  private static final int MIGRATE_TIMEOUT_MS = 5_000;

  private final List<RedisServer> nodes = new ArrayList<>();
  private final List<Integer> busPorts = new ArrayList<>();

  private RedisCluster() {}

  /**
   * Starts three primaries and waits until every slot is served and every node lists the others.
   *
   * @param lines lines of redis.conf, for every node; they override a node time-out of 2 s, and no
   *     full coverage
   */
  public static RedisCluster start(String... lines) {
    return start(PRIMARIES, lines);
  }

  /** As {@link #start}, with a replica of each primary; the nodes 3 to 5 start as replicas. */
  public static RedisCluster startWithReplicas(String... lines) {
    return start(2 * PRIMARIES, lines);
  }

  private static RedisCluster start(int nodes, String... lines) {
    RedisCluster cluster = new RedisCluster();
    try {
      cluster.startNodes(nodes, lines);
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void startNodes(int count, String... lines) {
    for (int i = 0; i < count; i++) {
      startNode(lines);
    }
    for (int i = 0; i < count; i++) {
      introduce(i);
    }
    for (int i = PRIMARIES; i < count; i++) {
      replicate(i, i - PRIMARIES);
    }
    awaitAgreement();
    awaitReplicas();
  }

  private void startNode(String... lines) {
    int busPort = Ports.free();
    List<String> all =
        new ArrayList<>(
            List.of(
                "cluster-enabled yes",
                "cluster-port " + busPort,
                "cluster-node-timeout 2000",
                "cluster-require-full-coverage no"));
    all.addAll(List.of(lines));
    nodes.add(RedisServer.start(all.toArray(String[]::new)));
    busPorts.add(busPort);
  }

  private void introduce(int node) {
    try (Jedis jedis = node(node).connect()) {
      if (node < PRIMARIES) {
        jedis.clusterAddSlotsRange(node * SLOTS / PRIMARIES, (node + 1) * SLOTS / PRIMARIES - 1);
        jedis.clusterSetConfigEpoch(node + 1);
      }
      if (node > 0) {
        jedis.sendCommand(
            Command.CLUSTER,
            "MEET",
            node(0).host(),
            Integer.toString(node(0).port()),
            busPorts.get(0).toString());
      }
    }
  }

  /** Refused until the node lists the primary. */
  private void replicate(int node, int primary) {
    String id = idOf(node(primary));
    awaitTrue(
        "node " + node + " to know its primary",
        () -> ask(node(node), jedis -> jedis.clusterReplicate(id).equals("OK")));
  }

  /**
   * Waits until all running nodes name the same primary for every slot, and each of these runs:
   * after the end of a primary, until its replica is promoted.
   */
  public void awaitAgreement() {
    awaitTrue(
        "the nodes to agree",
        () -> {
          List<List<SlotRange>> views = up().map(RedisCluster::slotsSeenBy).distinct().toList();
          return views.size() == 1
              && views.get(0).stream()
                  .allMatch(range -> up().anyMatch(node -> node.port() == range.port()))
              && up().allMatch(node -> ask(node, this::seesAllSlotsServed));
        });
  }

  private boolean seesAllSlotsServed(Jedis jedis) {
    String info = jedis.clusterInfo();
    return info.contains("cluster_state:ok")
        && info.contains("cluster_slots_ok:" + SLOTS)
        && info.contains("cluster_known_nodes:" + nodes.size());
  }

  private static List<SlotRange> slotsSeenBy(RedisServer node) {
    List<?> ranges = (List<?>) ask(node, jedis -> jedis.sendCommand(Command.CLUSTER, "SLOTS"));
    return ranges.stream().map(SlotRange::of).sorted().toList();
  }

  private Stream<RedisServer> up() {
    return nodes.stream().filter(RedisServer::isUp);
  }

  /** The value for {@code seckill.redis.nodes}. */
  public List<String> nodes() {
    return nodes.stream().map(node -> node.host() + ":" + node.port()).toList();
  }

  /** One node's server, for fault injection. */
  public RedisServer node(int number) {
    return nodes.get(number);
  }

  /**
   * The node that serves a key, as most of the running nodes say; waits until they do. While no
   * other node is promoted, it may be one that is down.
   */
  public RedisServer primaryOf(String key) {
    return awaitNode(
        "the primary of " + key,
        () -> {
          List<Integer> ports = up().map(node -> portOfPrimary(node, key)).toList();
          return withPort(port -> Collections.frequency(ports, port) > ports.size() / 2);
        });
  }

  private static int portOfPrimary(RedisServer node, String key) {
    int slot = JedisClusterCRC16.getSlot(key);
    return slotsSeenBy(node).stream()
        .filter(range -> range.first() <= slot && slot <= range.last())
        .findFirst()
        .orElseThrow()
        .port();
  }

  /** A replica that is connected to the primary of a key; waits until there is one. */
  public RedisServer replicaOf(String key) {
    return awaitNode(
        "a replica of the primary of " + key,
        () -> {
          String info = ask(primaryOf(key), jedis -> jedis.info("replication"));
          return withPort(port -> info.contains("port=" + port + ",state=online"));
        });
  }

  private Optional<RedisServer> withPort(Predicate<Integer> condition) {
    return nodes.stream().filter(node -> condition.test(node.port())).findFirst();
  }

  /**
   * Moves the slot of a key to another primary, ten keys at a time, and waits until all nodes know.
   * Clients may use the slot meanwhile, and are answered MOVED, ASK or TRYAGAIN.
   */
  public void moveSlot(String key, RedisServer target) {
    int slot = JedisClusterCRC16.getSlot(key);
    RedisServer source = primaryOf(key);
    String targetId = idOf(target);
    beginMove(source, target, slot);
    try (Jedis from = source.connect();
        Jedis to = target.connect()) {
      List<String> keys = from.clusterGetKeysInSlot(slot, KEYS_AT_ONCE);
      while (!keys.isEmpty()) {
        migrate(from, target, keys);
        keys = from.clusterGetKeysInSlot(slot, KEYS_AT_ONCE);
      }
      to.clusterSetSlotNode(slot, targetId);
      from.clusterSetSlotNode(slot, targetId);
    }
    awaitAgreement();
  }

  /** Begins to move the slot of these keys, with them alone; {@link #moveSlot} moves the rest. */
  public void beginMove(List<String> keys, RedisServer target) {
    RedisServer source = primaryOf(keys.get(0));
    beginMove(source, target, JedisClusterCRC16.getSlot(keys.get(0)));
    try (Jedis from = source.connect()) {
      migrate(from, target, keys);
    }
  }

  private static void beginMove(RedisServer source, RedisServer target, int slot) {
    String sourceId = idOf(source);
    String targetId = idOf(target);
    ask(target, to -> to.clusterSetSlotImporting(slot, sourceId));
    ask(source, from -> from.clusterSetSlotMigrating(slot, targetId));
  }

  private static void migrate(Jedis from, RedisServer target, List<String> keys) {
    from.migrate(
        target.host(),
        target.port(),
        MIGRATE_TIMEOUT_MS,
        new MigrateParams(),
        keys.toArray(String[]::new));
  }

  /**
   * Thaws frozen nodes, restarts ended ones, and waits until all nodes agree and every replica is
   * connected to its primary.
   */
  public void heal() {
    nodes.forEach(RedisServer::revive);
    awaitAgreement();
    awaitReplicas();
  }

  private void awaitReplicas() {
    awaitTrue(
        "the replicas",
        () -> {
          List<String> infos =
              nodes.stream().map(node -> ask(node, jedis -> jedis.info("replication"))).toList();
          return infos.stream().filter(info -> info.contains("role:master")).count() == PRIMARIES
              && infos.stream()
                  .allMatch(
                      info ->
                          info.contains("role:master") || info.contains("master_link_status:up"));
        });
  }

  private static String idOf(RedisServer node) {
    return ask(node, Jedis::clusterMyId);
  }

  private static <T> T ask(RedisServer node, Function<Jedis, T> question) {
    try (Jedis jedis = node.connect()) {
      return question.apply(jedis);
    }
  }

  private static void awaitTrue(String what, Callable<Boolean> condition) {
    eventually(what).ignoreExceptions().until(condition);
  }

  private static RedisServer awaitNode(String what, Callable<Optional<RedisServer>> node) {
    return eventually(what).ignoreExceptions().until(node, Optional::isPresent).orElseThrow();
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }

  /**
   * Slots that one primary serves.
   *
   * @param port the primary's
   */
  private record SlotRange(int first, int last, int port) implements Comparable<SlotRange> {

    /**
     * @param entry of CLUSTER SLOTS: first, last, and for the primary address, port and more
     */
    static SlotRange of(Object entry) {
      List<?> parts = (List<?>) entry;
      return new SlotRange(
          number(parts.get(0)), number(parts.get(1)), number(((List<?>) parts.get(2)).get(1)));
    }

    private static int number(Object value) {
      return Math.toIntExact((Long) value);
    }

    @Override
    public int compareTo(SlotRange other) {
      return Integer.compare(first, other.first);
    }
  }
}
