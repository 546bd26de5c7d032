package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.ops.MetricsSummary.Breaker;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetricsSummaryTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void showsEveryBreakerWithItsStateAndItsTransitions() {
    breaker("redis-0", "closed", 0);
    breaker("redis-1", "open", 3);
    breaker("broker", "half_open", 5);

    assertThat(MetricsController.breakers(meters))
        .isEqualTo(
            Map.of(
                "redis-0", new Breaker("closed", Map.of("open", 0L, "closed", 0L)),
                "redis-1", new Breaker("open", Map.of("open", 3L, "closed", 0L)),
                "broker", new Breaker("half_open", Map.of("open", 5L, "closed", 0L))));
  }

  private void breaker(String name, String now, int opened) {
    for (String state : List.of("closed", "open", "half_open")) {
      Gauge.builder("seckill.breaker.state", () -> state.equals(now) ? 1 : 0)
          .tags("breaker", name, "state", state)
          .register(meters);
    }
    for (String to : List.of("closed", "open")) {
      Counter.builder("seckill.breaker.transitions")
          .tags("breaker", name, "to", to)
          .register(meters)
          .increment(to.equals("open") ? opened : 0);
    }
  }
}
