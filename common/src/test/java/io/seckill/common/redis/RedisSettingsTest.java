package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisSettings.Mode;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;

class RedisSettingsTest {

  @Test
  void boundsEveryWaitByDefault() {
    JedisClientConfig config =
        RedisClients.clientConfig(RedisSettings.single("redis://127.0.0.1:6379"), "test");

    // facts.md 5: by default Jedis waits for ever for the answer to a blocking command
    assertThat(config.getBlockingSocketTimeoutMillis()).isPositive();
    assertThat(config.getSocketTimeoutMillis()).isPositive();
    assertThat(config.getConnectionTimeoutMillis()).isPositive();
    try (RedisClient client =
        (RedisClient) RedisClients.open(RedisSettings.single("redis://127.0.0.1:6379"), "test")) {
      assertThat(client.getPool().getMaxWaitDuration()).isPositive();
    }
  }

  @Test
  void hidesThePassword() {
    assertThat(RedisSettings.single("redis://gateway:s3cret@127.0.0.1:6379/2").toString())
        .doesNotContain("s3cret")
        .contains("127.0.0.1:6379");
  }

  @Test
  void namesThePropertyThatIsWrong() {
    assertThatThrownBy(() -> RedisSettings.single("http://somewhere"))
        .hasMessageContaining("seckill.redis.url");
    assertThatThrownBy(
            () ->
                new RedisSettings(
                    Mode.SENTINEL, "redis://h:1", List.of("h:2"), null, 0, null, null))
        .hasMessageContaining("seckill.redis.master");
    assertThatThrownBy(() -> RedisSettings.single("redis://h:1").withMaxConnections(2000))
        .hasMessageContaining("seckill.redis.max-connections");
  }
}
