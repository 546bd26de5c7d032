package io.seckill.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.relay.LanesProgress.Lane;
import io.seckill.relay.lane.LaneState;
import io.seckill.relay.recovery.PartitionBacklog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.health.contributor.Status;

class LanesProgressTest {

  @ParameterizedTest
  @CsvSource({
    "0, true, true",
    "60000, true, true",
    "60001, true, false",
    "3600000, true, false",
    "60001, false, true",
    "3600000, false, true",
  })
  void aLaneIsStuckWhenItHasWorkAndHasNotMovedForAMinute(
      long sinceMovedMs, boolean hasWork, boolean isReady) {
    LanesProgress progress = progress(0, lane("r-0", 0, true), lane("r-1", sinceMovedMs, hasWork));

    assertThat(progress.failure().isEmpty()).isEqualTo(isReady);
  }

  @ParameterizedTest
  @CsvSource({"0, true", "60000, true", "60001, false"})
  void redisMustHaveRenewedALeaseWithinAMinute(long sinceRenewedMs, boolean isReady) {
    LanesProgress progress = progress(sinceRenewedMs, lane("r-0", 0, false));

    assertThat(progress.failure().isEmpty()).isEqualTo(isReady);
  }

  @Test
  void theReasonNamesTheFirstLaneThatIsStuck() {
    assertThat(
            progress(0, lane("r-0", 5, true), lane("r-1", 61_000, true), lane("r-2", 70_000, true))
                .failure())
        .contains(
            "lane r-1 (BROKER_UNAVAILABLE) has not moved for 61 s; orders wait, 0 in its private"
                + " queue, 7 in its outbox, 0 of dead lanes: connecting");
  }

  @ParameterizedTest
  @CsvSource({"1, 0, 0", "0, 1, 0", "0, -1, 0", "0, 0, 1"})
  void ordersInAnyListAreWork(int outstanding, long outbox, long dead) {
    Lane lane =
        new Lane(
            "r-0",
            LaneState.BROKER_UNAVAILABLE,
            Duration.ofMinutes(2),
            outstanding,
            new PartitionBacklog(outbox, 0, dead),
            "");

    assertThat(progress(0, lane).failure()).isPresent();
  }

  @Test
  void thatRedisIsSilentIsSaidFirst() {
    assertThat(progress(75_000, lane("r-0", 75_000, true)).failure())
        .contains("no lease renewed in Redis for 75 s");
  }

  @Test
  void readinessFollowsIt() {
    AtomicReference<LanesProgress> now = new AtomicReference<>(progress(0, lane("r-0", 0, true)));
    LanesHealthIndicator indicator = new LanesHealthIndicator(now::get);
    assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);

    now.set(progress(75_000, lane("r-0", 0, true)));
    assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
    assertThat(indicator.health().getDetails())
        .isEqualTo(Map.of("reason", "no lease renewed in Redis for 75 s"));

    now.set(progress(0, lane("r-0", 0, true)));
    assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
  }

  private static LanesProgress progress(long sinceRenewedMs, Lane... lanes) {
    return new LanesProgress(Duration.ofMillis(sinceRenewedMs), List.of(lanes));
  }

  private static Lane lane(String name, long sinceMovedMs, boolean hasWork) {
    return new Lane(
        name,
        LaneState.BROKER_UNAVAILABLE,
        Duration.ofMillis(sinceMovedMs),
        0,
        new PartitionBacklog(hasWork ? 7 : 0, 0, 0),
        "connecting");
  }
}
