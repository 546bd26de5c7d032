package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.testing.RabbitManagement.QueueMembers;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Three RabbitMQ nodes that form a cluster with the settings of {@code deploy/rabbitmq}. Child
 * processes only. A node is killed, frozen and restarted as a {@link RabbitServer}, but not wiped.
 *
 * <p>The others notice a frozen node after about 80 s; until then they answer no question about
 * queues. As on one node, a queue younger than about a second is empty after kill -9 of its nodes:
 * see {@link #putQueuesOnDisk()}.
 */
public final class RabbitCluster implements AutoCloseable {

  private static final int NODES = 3;

  /** By Erlang name. */
  private final Map<String, RabbitServer> nodes = new LinkedHashMap<>();

  private final Set<RabbitServer> cutOff = new HashSet<>();
  private final AtomicInteger nextVhost = new AtomicInteger();

  private RabbitCluster(List<String> lines) {
    List<String> names = Stream.generate(RabbitProcess::newNode).limit(NODES).toList();
    List<String> all = new ArrayList<>(DeployedSettings.rabbitCluster());
    for (int i = 0; i < NODES; i++) {
      all.add("cluster_formation.classic_config.nodes." + (i + 1) + " = " + names.get(i));
    }
    // The first node waits so long for another to join, while the others wait for its lock.
    all.add("cluster_formation.discovery_retry_limit = 1");
    all.add("cluster_formation.discovery_retry_interval = 100");
    all.addAll(lines);
    String cookie = UUID.randomUUID().toString();
    for (String name : names) {
      nodes.put(name, RabbitServer.on(new ProcessMachine(new RabbitProcess(name, cookie, all))));
    }
  }

  /**
   * Starts the nodes and waits until each one serves clients and has joined the others.
   *
   * @param lines lines of rabbitmq.conf for every node; they override the shipped ones
   */
  public static RabbitCluster start(String... lines) {
    RabbitCluster cluster = new RabbitCluster(List.of(lines));
    try {
      TestServer.launchAll(cluster.nodes());
      cluster.awaitWhole();
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  public List<RabbitServer> nodes() {
    return List.copyOf(nodes.values());
  }

  /**
   * Creates a vhost that no other caller gets. Its URL is the list of {@link #urls}; its queries
   * and commands go to the first node that answers.
   */
  public RabbitVhost newVhost() {
    String name = "v" + nextVhost.incrementAndGet();
    RabbitVhost vhost = new RabbitVhost(this::answering, name, String.join(",", urls(name)));
    vhost.recreate();
    return vhost;
  }

  /** The URL of a vhost on each node, in the order of {@link #nodes()}. */
  public List<String> urls(String vhost) {
    return nodes.values().stream().map(node -> node.url(vhost)).toList();
  }

  /**
   * Returns the first node that answers the management API, which a frozen or paused node does not.
   *
   * @throws IllegalStateException when there is none
   */
  public RabbitServer answering() {
    return nodes.values().stream()
        .filter(RabbitCluster::answers)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("No node of the cluster answers"));
  }

  private static boolean answers(RabbitServer node) {
    if (!node.isRunning() || node.isFrozen()) {
      return false;
    }
    try {
      node.management().ping();
      return true;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** The last known leader of a quorum queue; for some seconds after its end it is still named. */
  public RabbitServer leaderOf(String vhost, String queue) {
    return node(queue(vhost, queue).leader());
  }

  private QueueMembers queue(String vhost, String queue) {
    return answering().management().quorumQueues().stream()
        .filter(one -> one.vhost().equals(vhost) && one.queue().equals(queue))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("There is no quorum queue " + queue));
  }

  private RabbitServer node(String name) {
    return Objects.requireNonNull(nodes.get(name), name);
  }

  /**
   * Moves the leader of a quorum queue to a running member, and returns when it is there. Consumers
   * stay connected.
   */
  public void moveLeader(String vhost, String queue, RabbitServer target) {
    String transfer =
        "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"%s\">>, queue, <<\"%s\">>)),"
            + " rabbit_quorum_queue:transfer_leadership(Q, node()).";
    eventually("the leader of " + queue)
        .ignoreExceptions() // for a moment it has none
        .until(
            () -> {
              if (leaderOf(vhost, queue) != target) {
                target.eval(transfer.formatted(vhost, queue));
              }
              return leaderOf(vhost, queue) == target;
            });
  }

  /**
   * Cuts a running node off from the other nodes, but not from its clients. It then has no majority
   * and pauses within seconds: it closes its ports. Its restart ends this, too.
   */
  public void partition(RabbitServer node) {
    cutOff.add(node);
    node.eval(
        forOthersOf(node, "begin erlang:set_cookie(N, cut_off), erlang:disconnect_node(N) end"));
  }

  /** Ends {@link #partition}; a paused node returns within seconds. No node may be frozen. */
  public void healPartition() {
    for (RabbitServer node : cutOff) {
      if (node.isRunning()) {
        node.eval(forOthersOf(node, "erlang:set_cookie(N, erlang:get_cookie())"));
      }
    }
    cutOff.clear();
  }

  /** An expression that evaluates another one for each other node, called N. */
  private String forOthersOf(RabbitServer node, String expression) {
    return nodes.entrySet().stream()
        .filter(entry -> entry.getValue() != node)
        .map(entry -> "'" + entry.getKey() + "'")
        .collect(Collectors.joining(", ", "[" + expression + " || N <- [", "]]."));
  }

  /**
   * Resumes, reunites and restarts the nodes. Returns when all of them serve clients and every
   * quorum queue has all its members and a leader.
   */
  public void heal() {
    nodes.values().forEach(RabbitServer::thaw);
    healPartition();
    // Together: a node that was not the last to end waits for those that ended after it.
    TestServer.launchAll(nodes());
    awaitWhole();
  }

  private void awaitWhole() {
    eventually("a cluster of " + NODES)
        .ignoreExceptions()
        .until(() -> nodes.values().stream().allMatch(this::seesAll));
  }

  private boolean seesAll(RabbitServer node) {
    RabbitManagement management = node.management();
    return management.runningNodes().equals(nodes.keySet())
        && management.quorumQueues().stream().allMatch(QueueMembers::areComplete);
  }

  /** As {@link RabbitServer#putQueuesOnDisk()}, on each running node; none may be frozen. */
  public void putQueuesOnDisk() {
    answering()
        .eval(
            "[[ok = rpc:call(N, dets, sync, [T]) || T <- rpc:call(N, dets, all, [])]"
                + " || N <- [node() | nodes()]].");
  }

  @Override
  public void close() {
    nodes.values().forEach(RabbitServer::close);
  }
}
