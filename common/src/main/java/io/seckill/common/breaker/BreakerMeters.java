package io.seckill.common.breaker;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Locale;

/**
 * State and transitions of a breaker, under the names all services use. resilience4j-micrometer
 * does not count transitions, and its gauges miss a breaker that opens and closes between two
 * scrapes.
 */
public final class BreakerMeters {

  private static final List<State> STATES = List.of(State.CLOSED, State.OPEN, State.HALF_OPEN);

  private BreakerMeters() {}

  /** Registers the meters of this breaker; they stay for as long as the registry lives. */
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
