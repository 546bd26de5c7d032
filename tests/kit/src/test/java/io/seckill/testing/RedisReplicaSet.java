package io.seckill.testing;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.Jedis;

/** A master, its replica, and a Sentinel that promotes the replica. Child processes only. */
public final class RedisReplicaSet implements AutoCloseable {

  private static final Duration SOON = Duration.ofMinutes(2);
  private static final String NAME = "seckill";
  private static final Pattern WRITTEN = Pattern.compile("master_repl_offset:(\\d+)");
  private static final Pattern REPLICATED = Pattern.compile("slave0:.*state=online,offset=(\\d+)");

  private final RedisServer master;
  private final RedisServer replica;
  private final Machine sentinel;

  private RedisReplicaSet(String... lines) {
    master = RedisServer.start(lines);
    List<String> all = new ArrayList<>(List.of(lines));
    all.add("replicaof " + master.host() + " " + master.port());
    replica = RedisServer.start(all.toArray(String[]::new));
    sentinel = new ProcessMachine(new SentinelProcess(NAME, master));
  }

  /**
   * Starts all three and waits until the replica is in sync and the Sentinel knows it.
   *
   * @param lines lines of redis.conf, for master and replica
   */
  public static RedisReplicaSet start(String... lines) {
    RedisReplicaSet set = new RedisReplicaSet(lines);
    set.sentinel.launch();
    set.awaitReplicated();
    set.awaitSentinel(jedis -> jedis.sentinelReplicas(NAME).size() == 1);
    return set;
  }

  /** The value for {@code seckill.redis.nodes}. */
  public List<String> sentinels() {
    return List.of(sentinel.host() + ":" + sentinelPort());
  }

  /**
   * As {@link #sentinels()}, for a user that is created with these rules. The Sentinel lets in
   * others as well.
   */
  public List<String> sentinelsAs(String user, String password, String... rules) {
    try (Jedis jedis = new Jedis(sentinel.host(), sentinelPort())) {
      jedis.aclSetUser(user, "reset", "on", ">" + password);
      jedis.aclSetUser(user, rules);
    }
    return List.of("redis://" + user + ":" + password + "@" + sentinels().get(0));
  }

  /** The value for {@code seckill.redis.master}. */
  public String name() {
    return NAME;
  }

  /** Waits until the replica has all data of the master; no client may write meanwhile. */
  public void awaitReplicated() {
    try (Jedis jedis = new Jedis(master.host(), master.port())) {
      await("the replica to be in step")
          .atMost(SOON)
          .until(
              () -> {
                String info = jedis.info("replication");
                Matcher written = WRITTEN.matcher(info);
                Matcher replicated = REPLICATED.matcher(info);
                return written.find()
                    && replicated.find()
                    && written.group(1).equals(replicated.group(1));
              });
    }
  }

  /** Kills the master permanently and waits until the Sentinel has promoted the replica. */
  public void failOver() {
    master.kill();
    awaitSentinel(
        jedis ->
            jedis.sentinelGetMasterAddrByName(NAME).get(1).equals("" + replica.port())
                && isMaster(replica));
  }

  private static boolean isMaster(RedisServer server) {
    try (Jedis jedis = new Jedis(server.host(), server.port())) {
      return jedis.info("replication").contains("role:master");
    }
  }

  private void awaitSentinel(Predicate<Jedis> condition) {
    await("the Sentinel")
        .atMost(SOON)
        .ignoreExceptions()
        .until(
            () -> {
              try (Jedis jedis = new Jedis(sentinel.host(), sentinelPort())) {
                return condition.test(jedis);
              }
            });
  }

  private int sentinelPort() {
    return sentinel.port(SentinelProcess.SERVICE_PORT);
  }

  @Override
  public void close() {
    sentinel.close();
    replica.close();
    master.close();
  }
}
