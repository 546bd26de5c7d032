package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

/** What every circuit breaker of the services must do, with any settings. */
public final class BreakerContract {

  private static final Clock STANDING_STILL = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

  private BreakerContract() {}

  /**
   * Gives the breaker a clock that stands still: to the library this looks like a clock that was
   * set back and stays back.
   */
  public static void triesAgainWhateverTheTimeOfDay(CircuitBreakerConfig config) {
    CircuitBreaker breaker =
        CircuitBreaker.of(
            "test",
            CircuitBreakerConfig.from(config)
                .clock(STANDING_STILL)
                .waitDurationInOpenState(Duration.ofMillis(10))
                .build());

    breaker.transitionToOpenState();

    eventually().untilAsserted(() -> assertThat(breaker.getState()).isEqualTo(State.HALF_OPEN));
  }
}
