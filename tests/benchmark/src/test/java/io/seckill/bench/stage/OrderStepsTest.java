package io.seckill.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.seckill.bench.stage.OrderSteps.Order;
import io.seckill.bench.stage.OrderSteps.Step;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OrderStepsTest {

  private final OrderSteps steps = new OrderSteps();

  /** Also when the clocks of two observations differ. */
  @Test
  void theStepsOnTheWayToTheRowAddUp() {
    Random random = new Random(7);
    for (long id = 1; id <= 100; id++) {
      for (Step step : Step.values()) {
        steps.reached(id, step, 1_000_000 + random.nextInt(50_000));
      }
    }

    List<Order> slowest = steps.slowestFirst().subList(0, 10);

    double sum =
        Stream.of(Step.values())
            .filter(step -> step != Step.ANSWERED && step != Step.CONFIRMED)
            .mapToDouble(step -> OrderSteps.meanMs(slowest, step))
            .sum();
    double total = slowest.stream().mapToLong(Order::total).average().orElseThrow() / 1e3;
    assertThat(sum).isCloseTo(total, within(1e-6));
    assertThat(slowest).isSortedAccordingTo((a, b) -> Long.compare(b.total(), a.total()));
  }
}
