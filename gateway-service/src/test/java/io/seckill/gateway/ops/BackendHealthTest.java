package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.backends.TestCalls;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.Eventually;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

class BackendHealthTest {

  @AutoClose("destroy")
  private final BlockingCalls calls = TestCalls.oneThread();

  /** A gateway that is down gets no purchases from its load balancer. */
  @ParameterizedTest
  @CsvSource({"true, DEGRADED", "false, DOWN"})
  void isNotDownWithoutRedisWhileMySqlDecides(boolean inFallback, String status) {
    CannedRedis away =
        new CannedRedis(
            command -> {
              throw new JedisConnectionException("for the test");
            });
    BackendHealth health =
        new BackendHealth(
            away,
            RedisBreakers.of(away, new SimpleMeterRegistry()),
            null,
            calls,
            null,
            calls,
            null,
            TestProducts.read(inFallback));

    assertThat(health.redis().block(Eventually.SOON).status()).hasToString(status);
  }
}
