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

  @Test
  void sumsNeitherOutboxesNorLanesWithoutSomePartitions() {
    List<Lanes.Outbox> outboxes = List.of(new Lanes.Outbox(0, 3, 50), new Lanes.Outbox(1, 4, 20));
    List<Lanes.Lane> lanes =
        List.of(new Lanes.Lane("one", 0, 0, "token", Lanes.LeaseState.ALIVE, 1_000, 0));
    Lanes all = new Lanes(lanes, outboxes, List.of(), List.of());
    Lanes some = new Lanes(lanes, outboxes, List.of(2), List.of());

    assertThat(MetricsController.outbox(all)).hasToString("{\"orders\":7,\"oldestMs\":50}");
    assertThat(MetricsController.lanes(all)).hasToString("{\"alive\":1,\"lapsed\":0,\"dead\":0}");
    assertThat(MetricsController.outbox(some)).isNull();
    assertThat(MetricsController.lanes(some)).isNull();
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
