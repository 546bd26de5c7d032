package io.seckill.consumer.reconciliation;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import io.seckill.consumer.products.ReplicationId;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.storage.Barriers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Tracks for which Redis servers MySQL shows whether they have lost admissions. Orders that a
 * former server admitted may still be in the broker when another takes over; until they are stored,
 * a server that has lost them looks complete. So a barrier is sent after each change of server, and
 * the server's replication id is stored in MySQL once the barrier has passed. Gateways read it
 * there.
 *
 * <p>The first server ever seen had no predecessor. Any process may do this at any time.
 */
@Component
class RedisServers {

  private static final Logger log = LoggerFactory.getLogger(RedisServers.class);
  private static final String NOT_STORED =
      "redis has changed, and what was published before is not all stored: {}";

  /** Short, because a gateway that starts after a change of the Redis server waits for it. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final JdbcClient jdbc;
  private final UnifiedJedis redis;
  private final Barriers barriers;
  private final Duration barrierTimeout;
  private final Map<String, Proof> proofs = new HashMap<>(); // by order queue

  RedisServers(
      JdbcClient jdbc, UnifiedJedis redis, Barriers barriers, ReconciliationProperties settings) {
    this.jdbc = jdbc;
    this.redis = redis;
    this.barriers = barriers;
    this.barrierTimeout = settings.barrierTimeout();
  }

  /** Servers of the partitions of one order queue, and the barriers sent to prove them. */
  private static final class Proof {
    private final Map<Integer, String> servers;
    private final List<Long> sent = new ArrayList<>();
    private long sentNanos;

    Proof(Map<Integer, String> servers) {
      this.servers = servers;
    }

    boolean includes(Map<Integer, String> others) {
      return servers.entrySet().containsAll(others.entrySet());
    }
  }

  @Bean
  Sweeper redisServerSweeper() {
    return new Sweeper("redis-servers", PAUSE, this::round);
  }

  /**
   * Checks all servers once; waits for no barrier. A barrier may pass late, behind all that waits
   * in its queue, and is a proof even then. For one thread.
   *
   * @throws JedisException when some partition cannot be queried, after all others were
   */
  void round() {
    Map<Integer, String> proven = proven();
    Map<String, Map<Integer, String>> changed = new TreeMap<>();
    List<Object> together = together();
    @Nullable JedisException failure = null;
    for (int p = 0; p < Partition.COUNT; p++) {
      try {
        String now = together.isEmpty() ? ReplicationId.of(redis, p) : (String) together.get(p);
        if (!proven.containsKey(p)) {
          adopt(p, now);
        } else if (!now.equals(proven.get(p))) {
          changed
              .computeIfAbsent(BrokerTopology.routingKey(p), queue -> new TreeMap<>())
              .put(p, now);
        }
      } catch (JedisException e) {
        failure = e;
      }
    }
    proofs.keySet().retainAll(changed.keySet());
    changed.forEach(this::look);
    if (failure != null) {
      throw failure;
    }
  }

  private void look(String queue, Map<Integer, String> servers) {
    Proof proof = proofs.get(queue);
    if (proof == null || !proof.includes(servers)) {
      proof = new Proof(servers);
      proofs.put(queue, proof);
    }
    Map<Long, Boolean> sent = barriers.havePassed(proof.sent);
    proof.sent.retainAll(sent.keySet()); // no other can pass any more
    if (sent.containsValue(true)) {
      keep(servers);
    } else if (proof.sent.isEmpty()
        || System.nanoTime() - proof.sentNanos >= barrierTimeout.toNanos()) {
      send(proof);
    }
  }

  /** Sends another barrier after a while: one that the broker has lost never passes. */
  private void send(Proof proof) {
    OptionalLong barrier = barriers.send(proof.servers.keySet().iterator().next());
    if (barrier.isPresent()) {
      if (!proof.sent.isEmpty()) {
        log.warn(NOT_STORED, proof.servers);
      }
      proof.sent.add(barrier.getAsLong());
      proof.sentNanos = System.nanoTime();
    }
  }

  /** The server of this partition whose losses show in MySQL by now; empty before the first. */
  String provenServer(int partition) {
    return proven().getOrDefault(partition, "");
  }

  /** Whether the partition still has this {@link #provenServer}; each promotion makes a new id. */
  boolean isStill(int partition, String server) {
    return server.isEmpty() || server.equals(ReplicationId.of(redis, partition));
  }

  /**
   * Waits for a barrier behind all that was published. Returns false when it has not passed in
   * time.
   */
  boolean prove(int partition) {
    Map<Integer, String> server = Map.of(partition, ReplicationId.of(redis, partition));
    if (!barriers.pass(partition, barrierTimeout)) {
      log.warn(NOT_STORED, server);
      return false;
    }
    keep(server);
    return true;
  }

  private void keep(Map<Integer, String> servers) {
    servers.forEach(this::keep);
    log.info("redis has changed, and what was published before is stored: {}", servers);
  }

  private Map<Integer, String> proven() {
    return jdbc.sql("SELECT partition_no, replication_id FROM redis_server")
        .query(Sql.map(row -> row.getInt(1), row -> row.getString(2)));
  }

  private void adopt(int partition, String replicationId) {
    jdbc.sql("INSERT IGNORE INTO redis_server VALUES (?, ?, UTC_TIMESTAMP(3))")
        .params(partition, replicationId)
        .update();
  }

  private void keep(int partition, String replicationId) {
    jdbc.sql("REPLACE INTO redis_server VALUES (?, ?, UTC_TIMESTAMP(3))")
        .params(partition, replicationId)
        .update();
  }

  /** The ids of all partitions in one round trip; none where partitions can fail alone. */
  private List<Object> together() {
    if (RedisClients.areApart(redis)) {
      return List.of();
    }
    List<List<String>> keys =
        IntStream.range(0, Partition.COUNT).mapToObj(ReplicationId::keys).toList();
    return ReplicationId.SCRIPT.callEach(
        redis, keys, Collections.nCopies(Partition.COUNT, List.of()));
  }
}
