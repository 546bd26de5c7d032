package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LeaseSettings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RelayLanesTest {

  @Test
  void adoptsADeadRelaysOrdersWithinEightSeconds() {
    LeaseSettings lease = LeaseSettings.DEFAULT;
    assertThat(lease.duration().plus(lease.renewInterval()).plus(RelayLane.POLL_INTERVAL))
        .as("longest time until a dead relay's orders are adopted")
        .hasSeconds(8);
    assertThat(lease.duration())
        .isBetween(lease.renewInterval().multipliedBy(3), RedisKeys.LONGEST_LANE_LEASE);
  }

  /** A claim that is given up may still arrive in a dead queue, which must be registered then. */
  @Test
  void refusesASocketTimeoutWithWhichAClaimMayOutlastTheQuietPeriod() {
    assertThatThrownBy(() -> lanes(Duration.ofSeconds(59)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.redis.socket-timeout");
    assertThat(lanes(Duration.ofMillis(58_999)).statuses()).hasSize(16);
  }

  /** Polls for one second. */
  private static RelayLanes lanes(Duration socketTimeout) {
    RelayMeters meters = new RelayMeters(new SimpleMeterRegistry());
    return new RelayLanes(
        new LaneSettings("test", 1, 512, Duration.ofSeconds(20)),
        List.of(),
        LeaseSettings.DEFAULT,
        new RedisSettings(
            Mode.SINGLE, "redis://127.0.0.1:1", List.of(), null, 1, socketTimeout, null),
        TestRelay.connector(TestRelay.broker("amqp://127.0.0.1:1", null), Tuning.DEFAULT, meters),
        meters);
  }
}
