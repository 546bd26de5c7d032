package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class LedgerGateTest {

  private static final Clock STANDING_STILL = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);

  /** To the library it is as if the clock had been set back for good. */
  @Test
  void triesAgainWhateverTheTimeOfDay() {
    CircuitBreaker breaker =
        CircuitBreaker.of(
            "test",
            CircuitBreakerConfig.from(LedgerGate.config())
                .clock(STANDING_STILL)
                .waitDurationInOpenState(Duration.ofMillis(10))
                .build());

    breaker.transitionToOpenState();

    await().untilAsserted(() -> assertThat(breaker.getState()).isEqualTo(State.HALF_OPEN));
  }
}
