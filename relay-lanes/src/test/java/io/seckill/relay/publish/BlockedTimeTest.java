package io.seckill.relay.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.relay.publish.RelayMeters.BlockedTime;
import org.junit.jupiter.api.Test;

class BlockedTimeTest {

  private final BlockedTime time = new BlockedTime();

  @Test
  void growsWhileAConnectionIsBlocked() {
    time.began(100);

    assertThat(time.nanosUntil(150)).isEqualTo(50);
    assertThat(time.nanosUntil(200)).isEqualTo(100);
  }

  @Test
  void standsStillOnceTheAlarmIsOver() {
    time.began(100);
    time.ended(100, 160);

    assertThat(time.nanosUntil(1_000)).isEqualTo(60);
  }

  @Test
  void addsUpOverConnectionsAcrossTheClocksWrapAround() {
    time.began(Long.MAX_VALUE - 10);
    time.began(Long.MAX_VALUE);
    time.ended(Long.MAX_VALUE - 10, Long.MIN_VALUE + 9);

    assertThat(time.nanosUntil(Long.MIN_VALUE + 99)).isEqualTo(20 + 100);
  }
}
