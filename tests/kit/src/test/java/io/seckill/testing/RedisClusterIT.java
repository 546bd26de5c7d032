package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClusterClient;

@Tag("proof")
@ChildProcessesOnly
class RedisClusterIT {

  private static final List<String> KEYS =
      IntStream.range(0, 50).mapToObj(i -> "seckill:{7}:counter:" + i).toList();
  private static final String KEY = KEYS.get(0);

  private static RedisCluster cluster;
  private static RedisClusterClient client;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.startWithReplicas(DeployedSettings.redis().toArray(String[]::new));
    client =
        RedisClusterClient.builder()
            .nodes(Set.copyOf(cluster.nodes().stream().map(HostAndPort::from).toList()))
            .build();
  }

  @AfterAll
  static void stop() {
    client.close();
    cluster.close();
  }

  @AfterEach
  void heal() {
    cluster.heal();
  }

  @Test
  void promotesTheReplicaAndThePrimaryComesBackAsItsReplica() {
    RedisServer old = cluster.primaryOf(KEY);
    RedisServer replica = cluster.replicaOf(KEY);
    client.set(KEY, "admitted");
    client.waitReplicas(KEY, 1, 10_000);

    old.kill();
    cluster.awaitAgreement();

    assertThat(cluster.primaryOf(KEY)).isSameAs(replica);
    assertThat(client.get(KEY)).isEqualTo("admitted");
    cluster.heal();
    assertThat(cluster.replicaOf(KEY)).isSameAs(old);
  }

  @Test
  void movesASlotWhileClientsWrite() {
    KEYS.forEach(key -> client.set(key, "0"));
    RedisServer source = cluster.primaryOf(KEY);
    RedisServer target = cluster.primaryOf("seckill:{0}:counter");
    assertThat(target).isNotSameAs(source);
    AtomicBoolean done = new AtomicBoolean();
    CompletableFuture<Long> rounds = CompletableFuture.supplyAsync(() -> countUntil(done));

    cluster.moveSlot(KEY, target);

    done.set(true);
    String expected = Bounded.get(rounds).toString();
    assertThat(expected).isNotEqualTo("0");
    assertThat(cluster.primaryOf(KEY)).isSameAs(target);
    assertThat(KEYS).allSatisfy(key -> assertThat(client.get(key)).isEqualTo(expected));
    try (Jedis jedis = source.connect()) {
      assertThat(jedis.dbSize()).as("keys left behind").isZero();
    }
  }

  private static long countUntil(AtomicBoolean done) {
    long rounds = 0;
    while (!done.get()) {
      KEYS.forEach(client::incr);
      rounds++;
    }
    return rounds;
  }
}
