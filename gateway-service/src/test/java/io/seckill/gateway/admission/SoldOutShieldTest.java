package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SoldOutShieldTest {

  private static final Duration HOUR = Duration.ofHours(1);

  @Test
  void coversASkuFromTheMomentRedisWasQueriedUntilTheLifetimeIsOver() {
    SoldOutShield shield = new SoldOutShield(HOUR);
    long now = System.nanoTime();

    assertThat(shield.covers(1)).isFalse();
    shield.raise(1, now - HOUR.toNanos());
    assertThat(shield.covers(1)).as("the answer came too late").isFalse();
    shield.raise(1, now);
    assertThat(shield.covers(1)).isTrue();
    assertThat(shield.covers(2)).isFalse();
  }

  @Test
  void isNotShortenedByAnAnswerThatOvertookALaterOne() {
    SoldOutShield shield = new SoldOutShield(HOUR);
    long now = System.nanoTime();

    shield.raise(1, now);
    shield.raise(1, now - HOUR.toNanos());

    assertThat(shield.covers(1)).isTrue();
  }

  /** A call that began before its answer was seen may be older than the last admission. */
  @Test
  void coversSinceTheFirstOfTheAnswersThatFollowEachOther() {
    SoldOutShield shield = new SoldOutShield(HOUR);
    long before = System.nanoTime();
    assertThat(shield.coversSince(1, before)).isFalse();
    shield.raise(1, before);
    long after = System.nanoTime();
    assertThat(shield.coversSince(1, before - 1)).isFalse();
    assertThat(shield.coversSince(1, after)).isTrue();

    shield.raise(1, System.nanoTime());
    assertThat(shield.coversSince(1, after)).isTrue();
    assertThat(shield.coversSince(2, after)).isFalse();
  }

  /** Units may have come back before the next answer. */
  @Test
  void coversSinceTheFirstAnswerAfterItsLifetime() {
    SoldOutShield shield = new SoldOutShield(HOUR);
    shield.raise(1, System.nanoTime() - HOUR.toNanos());
    long after = System.nanoTime();

    shield.raise(1, after);

    assertThat(shield.coversSince(1, after - 1)).isFalse();
    assertThat(shield.coversSince(1, System.nanoTime())).isTrue();
  }

  @Test
  void coversNothingWhenItsLifetimeIsZero() {
    SoldOutShield shield = new SoldOutShield(Duration.ZERO);

    shield.raise(1, System.nanoTime());

    assertThat(shield.covers(1)).isFalse();
  }
}
