package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisSettings.Mode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

class RedisClientsTest {

  @Test
  void checksTheCertificateAndTheHostOfAServerWithTls() {
    SslOptions tls =
        RedisClients.clientConfig(RedisSettings.single("rediss://127.0.0.1:6379"), "test")
            .getSslOptions();

    assertThat(tls.getSslVerifyMode()).isEqualTo(SslVerifyMode.FULL);
  }

  @Test
  void asksTheNextSentinelWhenOneDoesNotAnswer() throws IOException {
    JedisClientConfig silent = // sends nothing when it connects
        DefaultJedisClientConfig.builder()
            .autoNegotiateProtocol(false)
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
            .build();
    int closed;
    try (ServerSocket before = listening()) {
      closed = before.getLocalPort();
    }
    try (ServerSocket open = listening()) {
      RedisSettings settings =
          new RedisSettings(
              Mode.SENTINEL,
              "redis://127.0.0.1:1",
              List.of("127.0.0.1:" + closed, "127.0.0.1:" + open.getLocalPort()),
              "seckill",
              0,
              null,
              null);

      assertThat(RedisClients.<String>askAny(settings, silent, sentinel -> "its answer"))
          .isEqualTo("its answer");
    }
  }

  private static ServerSocket listening() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }
}
