package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ClientKillParams;

/**
 * A primary, two replicas, and three Sentinels with the settings of {@code
 * deploy/redis/sentinel.conf}. Child processes only.
 *
 * <p>Clients need no login. Nodes and Sentinels log in at the nodes as the users that we ship.
 * Every node keeps its role over a restart, as Sentinel has it written to the node's file.
 */
public final class RedisReplicaSet implements AutoCloseable {

  private static final String NAME = "seckill";
  private static final int NODES = 3;
  private static final int SENTINELS = 3;
  private static final int QUORUM = 2;
  private static final String REPLICA_USER = "replica";
  private static final String SENTINEL_USER = "sentinel";
  private static final Pattern REPLICATION_ID = Pattern.compile("master_replid:(\\w+)");
  private static final Pattern WRITTEN = Pattern.compile("master_repl_offset:(\\d+)");
  private static final Pattern REPLICATED =
      Pattern.compile("slave\\d+:.*state=online,offset=(\\d+)");

  private final List<RedisServer> nodes = new ArrayList<>();
  private final List<RedisServer> sentinels = new ArrayList<>();
  private final Map<RedisServer, Jedis> silentLinks = new HashMap<>();

  private RedisReplicaSet() {}

  /**
   * Starts all six and waits until the replicas are in sync and the Sentinels know them and each
   * other.
   *
   * @param lines lines of redis.conf, for every node
   */
  public static RedisReplicaSet start(String... lines) {
    RedisReplicaSet set = new RedisReplicaSet();
    try {
      set.startNodes(lines);
      set.awaitReplicated();
      set.startSentinels();
      return set;
    } catch (RuntimeException | Error e) {
      set.close();
      throw e;
    }
  }

  private void startNodes(String... lines) {
    List<String> all = new ArrayList<>(List.of(lines));
    all.add("masteruser " + REPLICA_USER);
    all.add("masterauth " + ShippedUsers.PASSWORD);
    for (int i = 0; i < NODES; i++) {
      RedisServer node = RedisServer.start(all.toArray(String[]::new));
      nodes.add(node);
      createUsers(node);
      try (Jedis jedis = node.connect()) {
        if (i > 0) {
          jedis.replicaof(nodes.get(0).host(), nodes.get(0).port());
        }
        jedis.configRewrite();
      }
    }
  }

  private static void createUsers(RedisServer node) {
    try (RedisClient redis = RedisClient.create(node.host(), node.port())) {
      ShippedUsers.inRedis(redis, REPLICA_USER);
      ShippedUsers.inRedis(redis, SENTINEL_USER);
    }
  }

  private void startSentinels() {
    for (int i = 0; i < SENTINELS; i++) {
      sentinels.add(RedisServer.startSentinel(DeployedSettings.sentinel(nodes.get(0))));
    }
    for (RedisServer sentinel : sentinels) {
      awaitTrue(
          sentinel,
          jedis ->
              jedis.sentinelReplicas(NAME).size() == NODES - 1
                  && jedis.sentinelSentinels(NAME).size() == SENTINELS - 1);
    }
  }

  /** All nodes, in any role; the first one was started as the primary. */
  public List<RedisServer> nodes() {
    return Collections.unmodifiableList(nodes);
  }

  /** The Sentinels' processes, for faults. */
  public List<RedisServer> sentinelServers() {
    return Collections.unmodifiableList(sentinels);
  }

  /** The value for {@code seckill.redis.nodes}. */
  public List<String> sentinels() {
    return sentinels.stream().map(sentinel -> sentinel.host() + ":" + sentinel.port()).toList();
  }

  /**
   * As {@link #sentinels()}, for a user that is created with these rules. The Sentinels let in
   * others as well.
   */
  public List<String> sentinelsAs(String user, String password, String... rules) {
    for (RedisServer sentinel : sentinels) {
      try (Jedis jedis = sentinel.connect()) {
        jedis.aclSetUser(user, "reset", "on", ">" + password);
        jedis.aclSetUser(user, rules);
      }
    }
    return sentinels().stream()
        .map(address -> "redis://" + user + ":" + password + "@" + address)
        .toList();
  }

  /** The value for {@code seckill.redis.master}. */
  public String name() {
    return NAME;
  }

  /** The node that two Sentinels or more name as the primary; waits until they do. */
  public RedisServer primary() {
    return awaitPrimary(node -> true);
  }

  /** The nodes that {@link #primary()} does not return, in any state. */
  public List<RedisServer> replicas() {
    RedisServer primary = primary();
    return nodes.stream().filter(node -> node != primary).toList();
  }

  /** Waits until all running replicas have all data of the primary; no client may write. */
  public void awaitReplicated() {
    RedisServer primary = sentinels.isEmpty() ? nodes.get(0) : primary();
    long replicas = nodes.stream().filter(node -> node != primary && node.isUp()).count();
    awaitTrue(
        primary,
        jedis -> {
          String info = jedis.info("replication");
          return Collections.frequency(onlineReplicas(info), first(WRITTEN, info)) == replicas;
        });
  }

  /**
   * Kills the primary and waits as {@link #awaitFailover}; it stays down until {@link #heal()}.
   *
   * @return the new primary
   */
  public RedisServer failOver() {
    RedisServer old = primary();
    old.kill();
    return awaitFailover(old);
  }

  /**
   * Waits until two Sentinels or more name another primary than this one, and it accepts writes:
   * with min-replicas-to-write, it has good replicas.
   *
   * @return the new primary
   */
  public RedisServer awaitFailover(RedisServer old) {
    return awaitPrimary(node -> node != old && acceptsWrites(node));
  }

  /**
   * Ends all exchange between the node and the other nodes and the Sentinels, in both directions,
   * until {@link #rejoin} or the node's restart. Clients reach the node as before. A primary
   * refuses writes after min-replicas-max-lag, as when the network is cut.
   */
  public void cutOff(RedisServer node) {
    silentLinks.computeIfAbsent(node, RedisReplicaSet::silentLink);
    try (Jedis jedis = node.connect()) {
      // Sentinel goes on as "default" where its login fails, so it may log in and call nothing.
      jedis.aclSetUser(SENTINEL_USER, "-@all", "resetchannels");
      jedis.aclSetUser(REPLICA_USER, "off");
      jedis.configSet("masterauth", "no-password");
      jedis.clientKill(new ClientKillParams().user(REPLICA_USER));
      jedis.clientKill(new ClientKillParams().type(ClientType.MASTER));
    }
  }

  /**
   * Connects as a replica that never acknowledges. To a primary it counts until it is late, like
   * replicas behind a cut network; the links of the others are closed, which shows at once.
   */
  private static Jedis silentLink(RedisServer node) {
    Jedis link = node.connect();
    String info = link.info("replication");
    if (info.contains("role:master")) {
      link.sendCommand(
          () -> "PSYNC".getBytes(StandardCharsets.US_ASCII),
          first(REPLICATION_ID, info),
          Long.toString(Long.parseLong(first(WRITTEN, info)) + 1));
    }
    return link;
  }

  private static String first(Pattern pattern, String info) {
    return pattern.matcher(info).results().findFirst().orElseThrow().group(1);
  }

  /**
   * Makes the first Sentinel name this node for good, as one that lost the others before a failover
   * goes on naming the former primary. Clients reach it as before.
   *
   * @param former a node that is down
   */
  public void makeStale(RedisServer former) {
    try (Jedis sentinel = sentinels.get(0).connect()) {
      sentinel.aclSetUser("default", "-publish"); // with which the others announce the primary
      sentinel.sentinelRemove(NAME);
      sentinel.sentinelMonitor(NAME, former.host(), former.port(), QUORUM);
    }
  }

  /** Ends {@link #cutOff}; does nothing to a node that is not cut off. */
  public void rejoin(RedisServer node) {
    createUsers(node);
    try (Jedis jedis = node.connect()) {
      jedis.configSet("masterauth", ShippedUsers.PASSWORD);
    }
    Jedis link = silentLinks.remove(node);
    if (link != null) {
      link.close();
    }
  }

  /**
   * Ends all faults of nodes and Sentinels: thaws, restarts, rejoins. Waits until two Sentinels or
   * more name one primary, it accepts writes and all other nodes replicate from it.
   *
   * @return the primary
   */
  public RedisServer heal() {
    sentinels.forEach(RedisServer::revive);
    return healNodes();
  }

  /** As {@link #heal()}, for the nodes alone: two Sentinels must run. */
  public RedisServer healNodes() {
    nodes.forEach(RedisServer::revive);
    nodes.forEach(this::rejoin);
    return awaitPrimary(
        node -> {
          try (Jedis jedis = node.connect()) {
            return onlineReplicas(jedis.info("replication")).size() == NODES - 1
                && acceptsWrites(node);
          }
        });
  }

  /** The offsets that the replicas have acknowledged. */
  private static List<String> onlineReplicas(String info) {
    return REPLICATED.matcher(info).results().map(result -> result.group(1)).toList();
  }

  private static boolean acceptsWrites(RedisServer node) {
    try (Jedis jedis = node.connect()) {
      jedis.del("no-such-key"); // refused by replicas, and by a primary with too few of them
      return true;
    }
  }

  private RedisServer awaitPrimary(Predicate<RedisServer> condition) {
    return eventually("the Sentinels' primary")
        .ignoreExceptionsInstanceOf(JedisException.class)
        .until(() -> named().filter(condition), Optional::isPresent)
        .orElseThrow();
  }

  private Optional<RedisServer> named() {
    List<String> ports =
        sentinels.stream().filter(RedisServer::isUp).map(RedisReplicaSet::portOfPrimary).toList();
    return nodes.stream()
        .filter(node -> Collections.frequency(ports, Integer.toString(node.port())) >= QUORUM)
        .findFirst();
  }

  private static String portOfPrimary(RedisServer sentinel) {
    try (Jedis jedis = sentinel.connect()) {
      return jedis.sentinelGetMasterAddrByName(NAME).get(1);
    }
  }

  private static void awaitTrue(RedisServer server, Predicate<Jedis> condition) {
    eventually("the server on port " + server.port())
        .ignoreExceptions()
        .until(
            () -> {
              try (Jedis jedis = server.connect()) {
                return condition.test(jedis);
              }
            });
  }

  @Override
  public void close() {
    silentLinks.values().forEach(Jedis::close);
    sentinels.forEach(RedisServer::close);
    nodes.forEach(RedisServer::close);
  }
}
