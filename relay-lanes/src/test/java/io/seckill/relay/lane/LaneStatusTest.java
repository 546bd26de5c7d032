package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LaneStatusTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // wraps around
  private final LaneStatus status = new LaneStatus("relay-0", 0, nanos::get);

  @Test
  void runsFromItsFirstProgress() {
    assertThat(status.state()).isEqualTo(LaneState.STARTING);

    status.progressed();

    assertThat(status.state()).isEqualTo(LaneState.RUNNING);
  }

  @Test
  void keepsItsFailureUntilItHasGoneOnForASecondWithoutAnother() {
    fail();
    pass(Duration.ofSeconds(1));
    status.progressed();
    assertThat(status.state()).isEqualTo(LaneState.BROKER_UNAVAILABLE);
    assertThat(status.reason()).isEqualTo("refused");

    fail();
    pass(Duration.ofMillis(999));
    status.progressed();
    assertThat(status.state()).isEqualTo(LaneState.BROKER_UNAVAILABLE);

    pass(Duration.ofMillis(2));
    status.progressed();
    assertThat(status.state()).isEqualTo(LaneState.RUNNING);
    assertThat(status.reason()).isEmpty();
  }

  /** A lane that waits for an alarm to end, or for its first confirms, is not. */
  @ParameterizedTest
  @EnumSource(LaneState.class)
  void isFailingWithoutAServer(LaneState state) {
    status.enter(state, "");

    assertThat(status.isFailing())
        .isEqualTo(state == LaneState.BROKER_UNAVAILABLE || state == LaneState.REDIS_UNAVAILABLE);
  }

  @Test
  void isFailingUntilItRunsAgain() {
    fail();
    status.progressed();
    assertThat(status.isFailing()).isTrue();

    pass(Duration.ofSeconds(2));
    status.progressed();
    assertThat(status.isFailing()).isFalse();
  }

  @Test
  void countsRefusalsUntilItRunsAgain() {
    assertThat(status.refused()).isEqualTo(1);
    fail();
    status.progressed();
    assertThat(status.refused()).isEqualTo(2);
    fail();
    pass(Duration.ofSeconds(2));
    status.progressed();

    assertThat(status.refused()).isEqualTo(1);
  }

  @Test
  void measuresTheTimeSinceItsLastProgressAlsoDuringAFailure() {
    pass(Duration.ofSeconds(3));
    assertThat(status.sinceMoved()).hasSeconds(3);
    fail();
    status.progressed();
    pass(Duration.ofSeconds(1));
    assertThat(status.sinceMoved()).hasSeconds(1);
  }

  private void fail() {
    status.enter(LaneState.BROKER_UNAVAILABLE, "refused");
    status.retrying();
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
