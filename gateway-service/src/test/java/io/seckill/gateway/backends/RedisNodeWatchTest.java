package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.common.redis.RedisNode;
import io.seckill.common.redis.RedisNode.RedisServerSettings;
import io.seckill.common.redis.RedisNodes;
import io.seckill.common.redis.RedisSettings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.env.MockEnvironment;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** What alerts read of Redis's own reports. */
class RedisNodeWatchTest {

  private static RedisNode node(Map<String, String> info) {
    RedisServerSettings correct = new RedisServerSettings(List.of(), List.of());
    return new RedisNode("127.0.0.1:6379", info, correct, 0);
  }

  @ParameterizedTest
  @CsvSource({"seckill.admission.replicas, two", "seckill.preheat.allow-unsafe-redis, maybe"})
  void namesASettingThatIsWrongAndTakesAnEmptyOneForNone(String name, String wrong) {
    RedisNodes nodes = new RedisNodes(RedisSettings.single("redis://127.0.0.1:1"), "test");
    MockEnvironment settings = new MockEnvironment().withProperty(name, wrong);
    assertThatThrownBy(() -> new RedisNodeWatch(nodes, settings, new SimpleMeterRegistry()))
        .hasMessageContaining(name);

    settings.setProperty(name, "");
    new RedisNodeWatch(nodes, settings, new SimpleMeterRegistry()).destroy();
  }

  @ParameterizedTest
  @CsvSource({"1, ok, 0", "1, err, 1", "0, ok, 1", "0, err, 1"})
  void aServerWithoutAWorkingAppendOnlyFileHasFailed(String enabled, String status, int failed) {
    Map<String, String> info = Map.of("aof_enabled", enabled, "aof_last_write_status", status);

    assertThat(RedisNodeWatch.writeFailed(node(info))).isEqualTo(failed);
  }

  @ParameterizedTest
  @CsvSource({"master, true, true", "master, false, false", "slave, true, false"})
  void onlyAPrimaryThatMayLoseOrdersIsRefused(String role, boolean danger, boolean isUnsafe) {
    List<String> dangers = danger ? List.of("appendfsync is everysec") : List.of();
    RedisServerSettings settings = new RedisServerSettings(dangers, List.of("wastes memory"));
    RedisNode node = new RedisNode("127.0.0.1:6379", Map.of("role", role), settings, 0);

    assertThat(RedisNodeWatch.isUnsafePrimary(node)).isEqualTo(isUnsafe);
  }

  @ParameterizedTest
  @CsvSource({"1000, 100, 900", "1000, 0, 1000"})
  void buffersAreNoUsedMemory(String used, String notCounted, double memory) {
    Map<String, String> info = Map.of("used_memory", used, "mem_not_counted_for_evict", notCounted);

    assertThat(RedisNodeWatch.usedMemory(node(info))).isEqualTo(memory);
  }

  /** The second look is after a failover; at the third nobody answers. */
  @Test
  void measuresWhatEachServerSaidAtTheLastLook() {
    AtomicReference<List<RedisNode>> servers =
        new AtomicReference<>(
            List.of(
                node(
                    "a",
                    0.25,
                    2,
                    "role=master aof_last_write_status=err maxmemory=5000 slave0=state=online"),
                node("b", 0, 0, "role=slave aof_last_write_status=ok used_memory=300"),
                away("c")));
    MeterRegistry meters = new SimpleMeterRegistry();
    RedisNodeWatch watch =
        new RedisNodeWatch(replicas -> query(servers), 0, AllowUnsafeRedis.FALSE, meters);

    watch.tryLook();
    assertThat(measured(meters))
        .containsExactlyInAnyOrder(
            "node.up node=a 1.0",
            "node.up node=b 1.0",
            "node.up node=c 0.0",
            "aof.failed node=a 1.0",
            "aof.failed node=b 0.0",
            "aof.slow.write node=a 0.25",
            "aof.slow.write node=b 0.0",
            "memory.used node=a 900.0",
            "memory.used node=b 200.0",
            "memory.max node=a 5000.0",
            "memory.max node=b 0.0",
            "misconfigured kind=danger node=a role=primary 2.0",
            "misconfigured kind=cost node=a role=primary 1.0",
            "misconfigured kind=danger node=b role=replica 0.0",
            "misconfigured kind=cost node=b role=replica 1.0",
            "replicas 1.0",
            "replicas.missing 1.0");

    servers.set(
        List.of(
            away("a"), node("b", 0, 1, "role=master aof_last_write_status=err used_memory=400")));
    watch.tryLook();
    List<String> afterwards = measured(meters);
    assertThat(afterwards)
        .containsExactlyInAnyOrder(
            "node.up node=a 0.0",
            "node.up node=b 1.0",
            "aof.failed node=b 1.0",
            "aof.slow.write node=b 0.0",
            "memory.used node=b 300.0",
            "memory.max node=b 0.0",
            "misconfigured kind=danger node=b role=primary 1.0",
            "misconfigured kind=cost node=b role=primary 1.0",
            "replicas 0.0",
            "replicas.missing 1.0");

    servers.set(List.of());
    watch.tryLook();
    assertThat(measured(meters)).isEqualTo(afterwards);
    watch.destroy();
  }

  private static List<RedisNode> query(AtomicReference<List<RedisNode>> servers) {
    if (servers.get().isEmpty()) {
      throw new JedisConnectionException("for the test");
    }
    return servers.get();
  }

  private static RedisNode away(String address) {
    return new RedisNode(address, Map.of(), new RedisServerSettings(List.of(), List.of()), 0);
  }

  /** {@code more}: further fields of INFO. */
  private static RedisNode node(String address, double slowWrite, int dangers, String more) {
    Map<String, String> info = new HashMap<>();
    for (String field :
        ("aof_enabled=1 used_memory=1000 mem_not_counted_for_evict=100 " + more).split(" ", -1)) {
      String[] parts = field.split("=", 2);
      info.put(parts[0], parts[1]);
    }
    List<String> found = Collections.nCopies(dangers, "appendfsync is everysec");
    return new RedisNode(
        address, info, new RedisServerSettings(found, List.of("wastes")), slowWrite);
  }

  /** Name, tags and value of each gauge. */
  private static List<String> measured(MeterRegistry meters) {
    return meters.getMeters().stream()
        .map(
            meter ->
                Stream.concat(
                        Stream.of(meter.getId().getName().replace("seckill.redis.", "")),
                        meter.getId().getTags().stream()
                            .map(tag -> tag.getKey() + "=" + tag.getValue()))
                    .collect(Collectors.joining(" ", "", " " + ((Gauge) meter).value())))
        .toList();
  }

  /** Of each primary: how many of its replicas have its data, and how many do not. */
  @ParameterizedTest
  @CsvSource({
    "2 0, 0, 0, 2, 0",
    "2 0, 0, 2, 2, 0",
    "1 1, 0, 0, 1, 1", // one of them has not received the data
    "1 0, 1, 0, 1, 1", // one is dead
    "0 0, 0, 0, 0, 0", // there are none
    "0 0, 0, 1, 0, 1", // but one is wanted
    "1 0, 0, 2, 1, 1",
    "1 0 2 0, 0, 1, 1, 0", // a cluster
    "1 0 0 1, 0, 1, 0, 1",
    "1 0 0 0, 2, 0, 0, 2",
  })
  void aReplicaIsMissingThatFollowsNoPrimary(
      String replicas, int dead, int wanted, double following, double missing) {
    String[] counts = replicas.split(" ", -1);
    List<RedisNode> servers = new ArrayList<>();
    for (int i = 0; i < counts.length; i += 2) {
      int online = Integer.parseInt(counts[i]);
      int loading = Integer.parseInt(counts[i + 1]);
      Map<String, String> info = new HashMap<>(Map.of("role", "master"));
      for (int n = 0; n < online + loading; n++) {
        String state = n < online ? "online" : "wait_bgsave";
        info.put("slave" + n, "ip=127.0.0.1,port=7000,state=" + state + ",offset=1,lag=0");
        servers.add(node(Map.of("role", "slave")));
      }
      servers.add(node(info));
    }
    for (int i = 0; i < dead; i++) {
      servers.add(node(Map.of()));
    }

    assertThat(RedisNodeWatch.replicas(servers)).isEqualTo(following);
    assertThat(RedisNodeWatch.replicasMissing(servers, wanted)).isEqualTo(missing);
  }
}
