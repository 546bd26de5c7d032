package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;

class MetricsControllerTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void showsEveryBreakerWithItsStateAndItsTransitions() {
    breaker("redis-0", "closed", 0);
    breaker("redis-1", "open", 3);
    breaker("broker", "half_open", 5);

    assertThat(MetricsController.breakers(meters))
        .hasToString(
            "{'broker':{'state':'half_open','transitions':{'closed':0,'open':5}},"
                .concat("'redis-0':{'state':'closed','transitions':{'closed':0,'open':0}},")
                .concat("'redis-1':{'state':'open','transitions':{'closed':0,'open':3}}}")
                .replace('\'', '"'));
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
