package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.publish.DeafBroker;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.testing.Bounded;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

class LaneConnectionsTest {

  private static final Duration SHORT = Duration.ofMillis(50);

  /** A Redis that is connected to and never replies, as over a half-open link. */
  @Test
  void waitsForRedisNoLongerThanAPollAndTheSocketTimeout() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "redis://127.0.0.1:" + silent.getLocalPort();
      LaneConnections connections =
          new LaneConnections(
              "relay-0",
              SHORT,
              RedisSettings.single(url).withSocketTimeout(SHORT),
              TestRelay.connector(
                  new DeafBroker(), Tuning.DEFAULT, new RelayMeters(new SimpleMeterRegistry())),
              new LaneLease("relay", 0, 0, Duration.ofSeconds(6)));
      FutureTask<Boolean> opening =
          new FutureTask<>(
              () -> {
                connections.open();
                return connections.areOpen();
              });
      new Thread(opening, "lane-0").start();

      assertThatThrownBy(() -> Bounded.get(opening))
          .hasCauseInstanceOf(JedisConnectionException.class);
    }
  }
}
