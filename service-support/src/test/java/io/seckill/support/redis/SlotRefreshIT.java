package io.seckill.support.redis;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.JedisClusterCRC16;

/** A frozen node accepts connections and refuses nothing, unlike a dead one. */
@ChildProcessesOnly
@Tag("proof")
class SlotRefreshIT {

  private static final RedisConfiguration CONFIGURATION = new RedisConfiguration();

  @Test
  void followsASlotThatLeftAFrozenNode() throws Exception {
    try (RedisCluster cluster = RedisCluster.start();
        UnifiedJedis redis = CONFIGURATION.redis(settings(cluster.nodes()), named())) {
      AutoCloseable refresh = CONFIGURATION.slotRefresh(redis);
      String key = keyOfNode(cluster, 0);
      redis.set(key, "before");
      cluster.node(0).freeze();
      moveSlot(cluster, JedisClusterCRC16.getSlot(key));

      eventually().ignoreExceptions().until(() -> redis.set(key, "after").equals("OK"));
      eventually().ignoreExceptions().until(() -> inPipeline(redis, key).equals("after"));
      refresh.close();
    }
  }

  @Test
  void usesTheNodesOnceOneAnswers() throws Exception {
    try (RedisCluster cluster = RedisCluster.start();
        TcpProxy link = TcpProxy.to(cluster.node(0))) {
      link.cut();
      try (UnifiedJedis redis =
          CONFIGURATION.redis(settings(List.of("127.0.0.1:" + link.port())), named())) {
        AutoCloseable refresh = CONFIGURATION.slotRefresh(redis);
        assertThatThrownBy(() -> redis.get("{0}")).isInstanceOf(JedisException.class);
        assertThatThrownBy(() -> inPipeline(redis, "{0}")).isInstanceOf(JedisException.class);

        link.heal();
        eventually().ignoreExceptions().until(() -> redis.set("{0}", "after").equals("OK"));
        eventually().ignoreExceptions().until(() -> inPipeline(redis, "{0}").equals("after"));
        refresh.close();
      }
    }
  }

  private static RedisSettings settings(List<String> nodes) {
    return new RedisSettings(
        Mode.CLUSTER,
        "redis://127.0.0.1:1", // no server: the nodes report which node serves a slot
        nodes,
        null,
        null,
        Duration.ofMillis(250), // as a gateway
        null);
  }

  private static StandardEnvironment named() {
    StandardEnvironment environment = new StandardEnvironment();
    environment
        .getPropertySources()
        .addFirst(new MapPropertySource("test", Map.of("spring.application.name", "slot-refresh")));
    return environment;
  }

  private static String keyOfNode(RedisCluster cluster, int node) {
    int partition = 0;
    while (!cluster.primaryOf("{" + partition + "}").equals(cluster.node(node))) {
      partition++;
    }
    return "{" + partition + "}";
  }

  /** From node 0 to node 1, as after a failover: node 0 is not asked. */
  private static void moveSlot(RedisCluster cluster, int slot) {
    try (Jedis one = connect(cluster, 1);
        Jedis two = connect(cluster, 2)) {
      String owner = one.clusterMyId();
      one.clusterSetSlotNode(slot, owner);
      two.clusterSetSlotNode(slot, owner);
    }
  }

  private static Jedis connect(RedisCluster cluster, int node) {
    return new Jedis(cluster.node(node).host(), cluster.node(node).port());
  }

  private static String inPipeline(UnifiedJedis redis, String key) {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      Response<String> value = pipeline.get(key);
      pipeline.sync();
      return value.get();
    }
  }
}
