package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisNode;
import io.seckill.common.redis.RedisNode.RedisServerSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What alerts read of Redis's own reports. */
class RedisNodeWatchTest {

  private static RedisNode node(Map<String, String> info) {
    RedisServerSettings correct = new RedisServerSettings(List.of(), List.of());
    return new RedisNode("127.0.0.1:6379", info, correct, 0);
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
