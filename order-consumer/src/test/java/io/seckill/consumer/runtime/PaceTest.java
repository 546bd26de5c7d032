package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.Pace.StoringLoad;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

class PaceTest {

  private static final Duration STEP = Duration.ofMillis(20);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private long nanos = Long.MAX_VALUE - 5; // a nanosecond clock may overflow
  private final Pace pace = new Pace(this::read, () -> nanos, this::rest, meters);
  private long rested;
  private int reads;
  private @Nullable Long lagMs;

  @ParameterizedTest
  @CsvSource(
      value = {
        "null, 0", // nothing was stored lately
        "-300, 40", // the clock of a gateway is ahead
        "0, 40",
        "2000, 40",
        "2001, 320",
        "3600000, 320",
      },
      nullValues = "null")
  void restsInProportionToItsWork(@Nullable Long lag, long restMs) {
    lagMs = lag;

    step(STEP);

    assertThat(rested).isEqualTo(TimeUnit.MILLISECONDS.toNanos(restMs));
    assertThat(
            meters
                .get("seckill.consumer.background.rests")
                .timer()
                .totalTime(TimeUnit.MILLISECONDS))
        .isEqualTo((double) restMs);
  }

  @Test
  void readsTheLagOnceASecondAndFollowsIt() {
    step(STEP);
    lagMs = 10_000L;
    step(STEP);
    assertThat(rested).as("within a second").isZero();
    nanos += TimeUnit.SECONDS.toNanos(1);

    step(STEP);
    assertThat(rested).isEqualTo(16 * STEP.toNanos());
    lagMs = null;
    nanos += TimeUnit.SECONDS.toNanos(1);
    step(STEP);

    assertThat(rested).as("not after storing ended").isEqualTo(16 * STEP.toNanos());
    assertThat(reads).isEqualTo(3);
  }

  @Test
  void restsWhenSeveralStepsHaveTakenLongEnough() {
    lagMs = 0L;
    Runnable stepEnds = pace.steps();

    nanos += STEP.toNanos();
    stepEnds.run();
    nanos += STEP.toNanos();
    stepEnds.run();
    assertThat(rested).as("after 40 ms").isZero();

    nanos += STEP.toNanos();
    stepEnds.run();
    assertThat(rested).isEqualTo(2 * 3 * STEP.toNanos());

    nanos += 3 * STEP.toNanos();
    stepEnds.run();
    assertThat(rested).as("the rest before it is no work").isEqualTo(2 * 6 * STEP.toNanos());
  }

  @Test
  void aLongStepIsFollowedByFiveSecondsAtMost() {
    lagMs = 10_000L;

    step(Duration.ofMinutes(1));

    assertThat(rested).isEqualTo(TimeUnit.SECONDS.toNanos(5));
  }

  @Test
  void aStepThatFailsEndsTheTaskWithoutARest() {
    lagMs = 10_000L;

    assertThatThrownBy(
            () ->
                pace.step(
                    () -> {
                      throw new QueryTimeoutException("lost");
                    }))
        .isInstanceOf(DataAccessException.class);

    assertThat(rested).isZero();
  }

  private void step(Duration work) {
    assertThat(
            pace.step(
                () -> {
                  nanos += work.toNanos();
                  return "done";
                }))
        .isEqualTo("done");
  }

  private StoringLoad read() {
    reads++;
    return StoringLoad.of(lagMs == null ? 0 : 1, lagMs == null ? 0 : lagMs);
  }

  private void rest(long restNanos) {
    rested += restNanos;
    nanos += restNanos;
  }
}
