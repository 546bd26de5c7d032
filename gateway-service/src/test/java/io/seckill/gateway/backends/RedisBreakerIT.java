package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisConnectionException;

@ExtendWith(TestServers.class)
class RedisBreakerIT {

  /** Else a restart of Redis would fail a call for each of them. */
  @Test
  void dropsTheIdleConnectionsWhenOneBreaks() {
    try (RedisServer server = RedisServer.start();
        RedisClient redis = (RedisClient) server.open()) {
      RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
      List<Connection> used = Stream.generate(redis.getPool()::getResource).limit(8).toList();
      used.forEach(Connection::close);
      assertThat(redis.getPool().getNumIdle()).isEqualTo(8);

      server.restart();

      assertThatThrownBy(() -> breaker.call(0, redis::ping))
          .isInstanceOf(JedisConnectionException.class);
      assertThat(breaker.<String>call(0, redis::ping)).isEqualTo("PONG");
    }
  }
}
