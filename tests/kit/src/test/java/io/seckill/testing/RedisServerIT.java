package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

@Tag("proof")
@ExtendWith(TestServers.class)
class RedisServerIT {

  @Test
  void keepsWhatWasOnDiskOverAKill() {
    try (RedisServer redis = RedisServer.start("appendonly yes", "appendfsync always")) {
      set(redis, "order", "admitted");
      int port = redis.port();
      redis.kill();
      assertThat(redis.isRunning()).isFalse();
      redis.restart();

      assertThat(redis.port()).isEqualTo(port);
      assertThat(get(redis, "order")).isEqualTo("admitted");
    }
  }

  @Test
  void losesEverythingOverAKillWithoutAnAof() {
    try (RedisServer redis = RedisServer.start()) {
      set(redis, "order", "admitted");
      redis.kill();
      redis.restart();

      assertThat(get(redis, "order")).isNull();
    }
  }

  @Test
  void startsEmptyOnTheSamePortAfterAWipe() {
    try (RedisServer redis = RedisServer.start("appendonly yes", "appendfsync always")) {
      set(redis, "order", "admitted");
      int port = redis.port();
      redis.wipe();
      redis.restart();

      assertThat(redis.port()).isEqualTo(port);
      assertThat(get(redis, "order")).isNull();
    }
  }

  @Test
  void doesNothingWhileFrozenAndGoesOnAfterwards() {
    try (RedisServer redis = RedisServer.start();
        Jedis jedis = connect(redis)) {
      redis.freeze();
      assertThatThrownBy(() -> jedis.set("order", "late"))
          .isInstanceOf(JedisConnectionException.class);
      assertThat(redis.isRunning()).isTrue();
      redis.thaw();

      assertThat(get(redis, "order")).isEqualTo("late");
    }
  }

  @Test
  void isKilledAndRestartedAlsoWhenFrozen() {
    try (RedisServer redis = RedisServer.start()) {
      redis.freeze();
      redis.kill();
      redis.restart();

      assertThat(get(redis, "order")).isNull();
      redis.freeze();
    }
  }

  @Test
  void letsInOnlyTheUsersOfItsAclFile(@TempDir Path directory) throws IOException {
    Path aclFile = directory.resolve("users.acl");
    Files.write(
        aclFile,
        List.of("# who may do what", "user default off", "user relay on >secret ~* &* +@all"));
    try (RedisServer redis = RedisServer.start(aclFile);
        Jedis relay = connect(redis, "relay", "secret");
        Jedis stranger = connect(redis)) {
      assertThat(relay.set("order", "admitted")).isEqualTo("OK");
      assertThatThrownBy(() -> stranger.get("order")).hasMessageContaining("NOAUTH");
    }
  }

  @Test
  void saysWhatTheServerSaidWhenItCannotStart() {
    assertThatThrownBy(() -> RedisServer.start("no-such-setting 1"))
        .isInstanceOf(ServerStartException.class)
        .hasMessageContaining("ended while starting")
        .hasMessageContaining("no-such-setting");
  }

  private static void set(RedisServer redis, String key, String value) {
    try (Jedis jedis = connect(redis)) {
      jedis.set(key, value);
    }
  }

  private static String get(RedisServer redis, String key) {
    try (Jedis jedis = connect(redis)) {
      return jedis.get(key);
    }
  }

  private static Jedis connect(RedisServer redis) {
    return connect(redis, null, null);
  }

  private static Jedis connect(RedisServer redis, String user, String password) {
    return new Jedis(
        new HostAndPort(redis.host(), redis.port()),
        DefaultJedisClientConfig.builder()
            .timeoutMillis(500)
            .user(user)
            .password(password)
            .autoNegotiateProtocol(false)
            .build());
  }
}
