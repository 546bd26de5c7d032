package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** The shipped settings of Redis and Sentinel, with the faults that tests inject. */
@Tag("proof")
@ChildProcessesOnly
class RedisReplicaSetIT {

  private static RedisReplicaSet redis;

  @BeforeAll
  static void start() {
    redis = RedisReplicaSet.start(DeployedSettings.redisHa().toArray(String[]::new));
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @AfterEach
  void heal() {
    redis.heal();
  }

  @Test
  void goesOnWithoutThePrimaryAndOneSentinelAndThePrimaryComesBackAsAReplica() {
    RedisServer old = redis.primary();
    set(old, "order", "admitted");
    redis.awaitReplicated();
    redis.sentinelServers().get(0).kill();

    RedisServer promoted = redis.failOver();

    assertThat(promoted).isNotSameAs(old).isSameAs(redis.primary());
    assertThat(get(promoted, "order")).isEqualTo("admitted");
    set(promoted, "order", "paid");
    assertThat(redis.heal()).isSameAs(promoted);
    redis.awaitReplicated();
    assertThat(get(old, "order")).isEqualTo("paid");
    redis.replicas().forEach(replica -> assertThat(role(replica)).isEqualTo("slave"));

    old.restart();
    assertThat(role(old)).as("role after a restart").isEqualTo("slave");
  }

  @Test
  void aPrimaryThatIsCutOffRefusesWritesAtLastAndLosesThemWhenItRejoins() {
    RedisServer old = redis.primary();
    redis.cutOff(old);
    long cut = System.nanoTime();
    set(old, "cut-off", "accepted");

    RedisServer promoted = redis.awaitFailover(old);

    eventually("NOREPLICAS").until(() -> !accepts(old));
    assertThat(Duration.ofNanos(System.nanoTime() - cut))
        .as("min-replicas-max-lag")
        .isGreaterThan(Duration.ofSeconds(9));
    assertThat(role(old)).isEqualTo("master");
    assertThat(get(old, "cut-off")).as("clients reach it").isEqualTo("accepted");
    assertThat(accepts(promoted)).isTrue();
    assertThat(redis.heal()).isSameAs(promoted);
    assertThat(role(old)).isEqualTo("slave");
    assertThat(get(old, "cut-off")).isNull();
  }

  @Test
  void aReplicaThatIsCutOffMissesWritesUntilItRejoins() {
    RedisServer primary = redis.primary();
    RedisServer replica = redis.replicas().get(0);
    redis.cutOff(replica);
    set(primary, "missed", "yes");
    RedisServer other = redis.replicas().get(1);
    eventually("the other replica").until(() -> "yes".equals(get(other, "missed")));
    assertThat(get(replica, "missed")).isNull();

    redis.rejoin(replica);

    redis.awaitReplicated();
    assertThat(get(replica, "missed")).isEqualTo("yes");
  }

  @Test
  void isFailedOverTwiceInARow() {
    RedisServer first = redis.primary();
    RedisServer second = redis.promoteReplica();
    RedisServer third = redis.promoteReplica();

    assertThat(second).isNotSameAs(first).isNotSameAs(third);
  }

  private static void set(RedisServer server, String key, String value) {
    try (Jedis jedis = server.connect()) {
      jedis.set(key, value);
    }
  }

  private static String get(RedisServer server, String key) {
    try (Jedis jedis = server.connect()) {
      return jedis.get(key);
    }
  }

  private static String role(RedisServer server) {
    try (Jedis jedis = server.connect()) {
      return (String) jedis.role().get(0);
    }
  }

  private static boolean accepts(RedisServer server) {
    try (Jedis jedis = server.connect()) {
      jedis.set("any", "thing");
      return true;
    } catch (JedisDataException e) {
      assertThat(e).hasMessageStartingWith("NOREPLICAS");
      return false;
    }
  }
}
