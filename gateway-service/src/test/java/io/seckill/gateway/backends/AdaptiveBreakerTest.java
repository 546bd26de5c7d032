package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.AdaptiveBreaker.Thresholds;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

class AdaptiveBreakerTest {

  private final SettableClock clock = new SettableClock();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AdaptiveBreaker breaker =
      new AdaptiveBreaker("redis", Duration.ofMillis(150), meters, clock, clock::nanos);

  @Test
  void aFewErrorsAtNightDoNotOpenIt() {
    for (int hour = 0; hour < 100; hour++) {
      fails(2);
      clock.advance(Duration.ofHours(1));
    }

    assertThat(breaker.isClosed()).isTrue();
  }

  @Test
  void aBurstOpensIt() {
    succeeds(2);
    fails(4);

    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.state()).isEqualTo(State.OPEN);
    assertThat(breaker.letsThrough()).isFalse();
  }

  @Test
  void manyErrorsAmongMoreSuccessesDoNotOpenIt() {
    succeeds(60);
    fails(50);

    assertThat(breaker.isClosed()).isTrue();
    assertThat(breaker.failures()).isEqualTo(50);
    assertThat(breaker.failurePercent()).isEqualTo(45);
  }

  @Test
  void whatHappenedASecondAgoNoLongerCounts() {
    succeeds(1_000);
    clock.advance(Duration.ofSeconds(1));
    fails(6);

    assertThat(breaker.isOpen()).isTrue();
  }

  @Test
  void thresholdsTakeEffectWhileItRuns() {
    breaker.opensAt(new Thresholds(90, 20));
    fails(20);
    assertThat(breaker.isClosed()).as("20 of 23 calls").isTrue();
    fails(3);
    assertThat(breaker.isOpen()).isTrue();

    breaker.opensAt(new Thresholds(10, 1));
    assertThat(breaker.isClosed()).as("with new thresholds it begins anew").isTrue();
    succeeds(9);
    fails(1);
    assertThat(breaker.isOpen()).isTrue();
    assertThat(meters.get("seckill.breaker.state").tag("state", "open").gauge().value())
        .isEqualTo(1);
    assertThat(meters.get("seckill.breaker.transitions").tag("to", "open").counter().count())
        .isEqualTo(2);
  }

  @Test
  void thresholdsHaveBounds() {
    assertThatThrownBy(() -> new Thresholds(0, 3)).hasMessageContaining("failurePercent");
    assertThatThrownBy(() -> new Thresholds(101, 3)).hasMessageContaining("failurePercent");
    assertThatThrownBy(() -> new Thresholds(50, 0)).hasMessageContaining("failuresPerSecond");
    assertThatThrownBy(() -> new Thresholds(50, 100_001)).hasMessageContaining("failuresPerSecond");
  }

  @Test
  void lessThanAllArePurchasesAtFirstWhenItHasClosedAgain() {
    fails(6);
    Duration open = Duration.ofSeconds(9);
    clock.advance(open);
    assertThat(breaker.since()).isEqualTo(open);
    closesAgain();

    assertThat(breaker.state()).isEqualTo(State.HALF_OPEN);
    assertThat(letThroughOf(100)).isEqualTo(30);
    clock.advance(AdaptiveBreaker.GROWTH.dividedBy(2));
    assertThat(letThroughOf(100)).isEqualTo(65);
    clock.advance(AdaptiveBreaker.GROWTH.dividedBy(2));
    assertThat(letThroughOf(100)).isEqualTo(100);
    assertThat(breaker.state()).isEqualTo(State.CLOSED);
    assertThat(breaker.since()).isEqualTo(AdaptiveBreaker.GROWTH);
  }

  /** The library's own timer, of 400 ms, ends the open state. */
  private void closesAgain() {
    Awaitility.await().until(() -> !breaker.isOpen());
    succeeds(3);
    assertThat(breaker.isClosed()).isTrue();
  }

  private long letThroughOf(int purchases) {
    return IntStream.range(0, purchases).filter(i -> breaker.letsThrough()).count();
  }

  private void succeeds(int calls) {
    IntStream.range(0, calls).forEach(i -> breaker.call(() -> i));
  }

  private void fails(int calls) {
    for (int i = 0; i < calls; i++) {
      assertThatThrownBy(
              () ->
                  breaker.call(
                      () -> {
                        throw new JedisConnectionException("no");
                      }))
          .isInstanceOf(JedisConnectionException.class);
    }
  }

  /** Stands still between two changes. */
  private static final class SettableClock extends Clock {

    private Instant now = Instant.parse("2026-11-25T03:00:00Z");

    void advance(Duration time) {
      now = now.plus(time);
    }

    long nanos() {
      return Duration.between(Instant.EPOCH, now).toNanos();
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
