package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisSettings.Mode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;

class RedisSettingsTest {

  @Test
  void boundsEveryWaitByDefault() {
    RedisSettings settings = RedisSettings.single("redis://127.0.0.1:6379");
    JedisClientConfig config = RedisClients.clientConfig(settings, "test");
    int socketTimeoutMs = Math.toIntExact(settings.socketTimeout().toMillis());

    // facts.md 5: by default Jedis waits for ever for the answer to a blocking command
    assertThat(config.getBlockingSocketTimeoutMillis()).isEqualTo(socketTimeoutMs);
    assertThat(config.getSocketTimeoutMillis()).isEqualTo(socketTimeoutMs);
    assertThat(config.getConnectionTimeoutMillis()).isBetween(1, 250);
    try (RedisClient client = (RedisClient) RedisClients.open(settings, "test")) {
      assertThat(client.getPool().getMaxWaitDuration())
          .isBetween(Duration.ofMillis(1), Duration.ofMillis(100));
      assertThat(List.of(client.getPool().getMaxTotal(), client.getPool().getMaxIdle()))
          .as("none is closed to be opened again")
          .containsOnly(settings.maxConnections());
    }
  }

  @Test
  void hidesThePassword() {
    assertThat(RedisSettings.single("redis://gateway:s3cret@127.0.0.1:6379/2").toString())
        .doesNotContain("s3cret")
        .contains("127.0.0.1:6379");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://relay:50%off-s3cret@h:6379/0",
        "redis://relay:s3cret|@h:6379/0",
        "redis://relay:s3cret^@h:6379/0",
        "redis://relay:s3cret @h:6379/0",
        "redis://relay:s3cret@2@h:6379/0",
        "redis://relay:s3cret#@h:6379/0",
        "redis://relay:6379#s3cret@h:6379/0",
        "redis://relay:6379?s3cret@h:6379/0",
        "redis://relay:s3cret/@h:6379/0",
        "redis://s3cret@h:6379/0",
        "redis://relay:s3cret@h:6379/x",
        "redis://relay:s3cret@h:6379/0/1",
        "redis://relay:s3cret@h:6379/99999999999",
        "redis://relay:s3cret@h/0",
        "redis://relay:s3cret@h:0/0",
        "redis://relay:s3cret@h:65536/0",
        "redis://relay:s3cret@under_score:6379/0",
        "redis:///0",
      })
  void refusesAnUnreadableUrlWithoutRepeatingIt(String url) {
    assertThatThrownBy(() -> RedisSettings.single(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.redis.url")
        .hasNoCause()
        .message()
        .doesNotContain("s3cret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://watcher:50%off-s3cret@h:2",
        "redis://watcher:s3cret^@h:2",
        "redis://watcher:6379#s3cret@h:2",
        "redis://s3cret@h:2",
        "redis://watcher:s3cret@h",
        "redis://watcher:s3cret@under_score:2",
        "h",
        "h:x",
        "h:65536",
        "h h:2",
      })
  void refusesAnUnreadableNodeWithoutRepeatingIt(String node) {
    assertThatThrownBy(() -> sentinels(node))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.redis.nodes")
        .hasNoCause()
        .message()
        .doesNotContain("s3cret");
  }

  @Test
  void takesEveryAddressThatCanBeReached() {
    for (String url :
        List.of(
            "redis://h:6379",
            "rediss://relay:p%40ss:word@h:6379/",
            "redis://:secret@[::1]:6379/15",
            "redis://127.0.0.1:6379/0?timeout=2s")) {
      assertThat(RedisClients.clientConfig(RedisSettings.single(url), "test")).isNotNull();
    }
    assertThat(sentinels("under_score:2", "[::1]:2", "::1:2").nodes()).hasSize(3);
  }

  @Test
  void takesUsersOfSentinelsFromTheirAddresses() {
    assertThat(sentinels("redis://watcher:s3cret@h:2", "redis://watcher:s3cret@i:2").nodes())
        .hasSize(2);
    assertThat(sentinels("rediss://h:2").toString()).doesNotContain("h:2");
    for (List<String> wrong :
        List.of(
            List.of("redis://watcher:s3cret@h:2", "redis://watcher:another@i:2"),
            List.of("redis://watcher:s3cret@h:2", "i:2"),
            List.of("redis://h:2", "rediss://i:2"),
            List.of("http://watcher:s3cret@h:2"),
            List.of("watcher:s3cret@h:2"))) {
      assertThatThrownBy(() -> sentinels(wrong.toArray(String[]::new)))
          .hasMessageContaining("seckill.redis.nodes")
          .message()
          .doesNotContain("s3cret");
    }
  }

  @Test
  void takesNoUsersFromTheAddressesOfAClustersSeeds() {
    List<String> seeds = List.of("redis://gateway:s3cret@h:2");
    assertThatThrownBy(
            () -> new RedisSettings(Mode.CLUSTER, "redis://h:1", seeds, null, null, null, null))
        .hasMessageContaining("seckill.redis.nodes");
  }

  private static RedisSettings sentinels(String... nodes) {
    return new RedisSettings(
        Mode.SENTINEL, "redis://h:1", List.of(nodes), "seckill", null, null, null);
  }

  @Test
  void namesThePropertyThatIsWrong() {
    assertThatThrownBy(() -> RedisSettings.single("http://somewhere"))
        .hasMessageContaining("seckill.redis.url");
    for (String master : new String[] {null, "", " "}) {
      assertThatThrownBy(
              () ->
                  new RedisSettings(
                      Mode.SENTINEL, "redis://h:1", List.of("h:2"), master, null, null, null))
          .hasMessageContaining("seckill.redis.master");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1025})
  void refusesANumberOfConnectionsOutOfBounds(int connections) {
    assertThatThrownBy(() -> RedisSettings.single("redis://h:1").withMaxConnections(connections))
        .hasMessage("seckill.redis.max-connections must be 1..1024");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.019S", "PT60.001S", "PT600H"})
  void refusesASocketTimeoutOutOfBounds(Duration timeout) {
    RedisSettings settings = RedisSettings.single("redis://h:1");
    assertThatThrownBy(() -> settings.withSocketTimeout(timeout))
        .hasMessage("seckill.redis.socket-timeout must be 20ms..60s");
  }
}
