package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockJumpsTest {

  private static final Duration SILENT = Duration.ofSeconds(35);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private Instant mysql = Instant.parse("2026-11-28T12:00:00Z");
  private long nanos = Long.MAX_VALUE - 5; // a nanosecond clock may overflow
  private final ClockJumps jumps = new ClockJumps(() -> nanos);

  @ParameterizedTest
  @CsvSource({"PT1S, true", "PT6S, true", "PT6.001S, false", "PT1H, false", "PT-1H, true"})
  void aClockThatRunsAheadHasJumped(Duration bySecond, boolean isNone) {
    assertThat(none(Duration.ZERO, Duration.ZERO)).as("with nothing to compare it with").isTrue();

    assertThat(none(SECOND, bySecond)).isEqualTo(isNone);
  }

  @Test
  void aJumpIsOverWhenGatewaysHaveHadTheirTimeSince() {
    none(Duration.ZERO, Duration.ZERO);
    none(SECOND, Duration.ofHours(1));

    assertThat(none(SILENT.minus(SECOND), SILENT.minus(SECOND))).isFalse();
    assertThat(none(SECOND, SECOND)).isTrue();
  }

  /** After this process's clock and MySQL's have run on by so much. */
  private boolean none(Duration own, Duration ofMySql) {
    nanos += own.toNanos();
    mysql = mysql.plus(ofMySql);
    return jumps.noneWithin(SILENT, mysql);
  }
}
