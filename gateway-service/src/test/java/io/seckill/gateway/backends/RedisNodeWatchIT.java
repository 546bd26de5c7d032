package io.seckill.gateway.backends;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.common.redis.RedisNodes;
import io.seckill.common.redis.RedisSettings;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import redis.clients.jedis.Jedis;

/** A server that takes over may be sold from, or not. */
@ExtendWith(TestServers.class)
class RedisNodeWatchIT {

  @AutoClose
  private final RedisServer server = RedisServer.start("appendonly yes", "appendfsync always");

  @Test
  void whereUnsafeServersAreNeverAllowedOnlyAKnownSafePrimaryIsSoldFrom() {
    RedisNodeWatch watch = watch(AllowUnsafeRedis.NEVER);
    assertThat(watch.admits(replicationId())).isTrue();
    assertThat(watch.admits("another server")).isFalse();
    assertThat(watch.refuses()).isFalse();
    watch.destroy();

    configure("appendfsync", "everysec");
    watch = watch(AllowUnsafeRedis.NEVER);
    assertThat(watch.admits(replicationId())).isFalse();
    assertThat(watch.refuses()).isTrue();
    watch.destroy();
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NEVER")
  void elsewhereASaleGoesOnWithADangerThatIsShown(AllowUnsafeRedis allowed) {
    configure("appendfsync", "everysec");
    RedisNodeWatch watch = watch(allowed);

    eventually().until(() -> !watch.dangers().isEmpty());

    assertThat(watch.dangers())
        .singleElement()
        .asString()
        .contains("primary", "appendfsync is everysec, it must be always");
    assertThat(watch.admits(replicationId())).isTrue();
    assertThat(watch.admits("another server")).isTrue();
    assertThat(watch.refuses()).isFalse();
    watch.destroy();
  }

  private RedisNodeWatch watch(AllowUnsafeRedis allowed) {
    RedisSettings settings = RedisSettings.single("redis://127.0.0.1:" + server.port());
    return new RedisNodeWatch(
        new RedisNodes(settings, "test")::query, 0, allowed, new SimpleMeterRegistry());
  }

  private void configure(String name, String value) {
    try (Jedis redis = new Jedis("127.0.0.1", server.port())) {
      redis.configSet(name, value);
    }
  }

  private String replicationId() {
    try (Jedis redis = new Jedis("127.0.0.1", server.port())) {
      return redis
          .info("replication")
          .lines()
          .filter(line -> line.startsWith("master_replid:"))
          .map(line -> line.substring("master_replid:".length()))
          .findFirst()
          .orElseThrow();
    }
  }
}
