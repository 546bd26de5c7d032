package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisNode.RedisServerSettings;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisServerSettingsTest {

  private final Map<String, String> settings =
      new TreeMap<>(
          Map.of(
              "maxmemory-policy", "noeviction",
              "appendonly", "yes",
              "appendfsync", "always",
              "min-replicas-to-write", "1",
              "hash-max-listpack-value", "128"));

  @ParameterizedTest
  @CsvSource({
    "maxmemory-policy, allkeys-lru, 'maxmemory-policy is allkeys-lru, it must be noeviction',",
    "maxmemory-policy, volatile-ttl, 'maxmemory-policy is volatile-ttl, it must be noeviction',",
    "appendonly, no, 'appendonly is no, it must be yes',",
    "appendfsync, everysec, 'appendfsync is everysec, it must be always',",
    "appendfsync, no, 'appendfsync is no, it must be always',",
    "min-replicas-to-write, 0, 'min-replicas-to-write is 0, it must be at least 1',",
    "min-replicas-to-write, 2,,",
    "hash-max-listpack-value, 127,, 'hash-max-listpack-value is 127, orders need 128'",
    "hash-max-listpack-value, 129,,",
  })
  void namesWhatMayLoseOrdersOrWastesMemory(
      String name, String value, @Nullable String danger, @Nullable String cost) {
    assertThat(RedisServerSettings.of(settings, 1))
        .isEqualTo(new RedisServerSettings(List.of(), List.of()));

    settings.put(name, value);

    assertThat(RedisServerSettings.of(settings, 1))
        .isEqualTo(new RedisServerSettings(listed(danger), listed(cost)));
  }

  @Test
  void passesWhatIsNotReported() {
    assertThat(RedisServerSettings.of(Map.of(), 2))
        .isEqualTo(new RedisServerSettings(List.of(), List.of()));
  }

  private static List<String> listed(@Nullable String problem) {
    return problem == null ? List.of() : List.of(problem);
  }
}
