package io.seckill.common.breaker;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The settings and meters that the breakers of all services share. */
public final class Breakers {

  private static final List<State> STATES = List.of(State.CLOSED, State.OPEN, State.HALF_OPEN);

  private Breakers() {}

  /**
   * Opens when half of the last calls have failed. A small window and a short open state: the
   * library's defaults (100 calls, 60 s) would hide an outage. A timer ends the open state; the
   * library's alternative is the wall clock, which an operator may set back.
   *
   * @param calls that are remembered
   * @param least calls before it opens
   * @param trials calls that decide whether it closes again
   */
  public static CircuitBreakerConfig.Builder ofLastCalls(
      int calls, int least, Duration openFor, int trials) {
    return CircuitBreakerConfig.custom()
        .slidingWindow(calls, least, SlidingWindowType.COUNT_BASED)
        .failureRateThreshold(50)
        .waitDurationInOpenState(openFor)
        .automaticTransitionFromOpenToHalfOpenEnabled(true)
        .permittedNumberOfCallsInHalfOpenState(trials);
  }

  /**
   * Registers state and transitions of this breaker, under the names all services use; they stay
   * for as long as the registry lives. resilience4j-micrometer does not count transitions, and its
   * gauges miss a breaker that opens and closes between two scrapes.
   */
  public static void bind(CircuitBreaker breaker, MeterRegistry meters) {
    for (State state : STATES) {
      String word = state.name().toLowerCase(Locale.ROOT);
      Gauge.builder("seckill.breaker.state", () -> breaker.getState() == state ? 1 : 0)
          .description("1 for the state a circuit breaker is in")
          .tag("breaker", breaker.getName())
          .tag("state", word)
          .register(meters);
      Counter transitions =
          Counter.builder("seckill.breaker.transitions")
              .description("Changes of a circuit breaker's state, by the state it went to")
              .tag("breaker", breaker.getName())
              .tag("to", word)
              .register(meters);
      breaker
          .getEventPublisher()
          .onStateTransition(
              event -> {
                if (event.getStateTransition().getToState() == state) {
                  transitions.increment();
                }
              });
    }
  }
}
