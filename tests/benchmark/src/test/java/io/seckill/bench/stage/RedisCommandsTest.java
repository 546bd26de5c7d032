package io.seckill.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.bench.stage.OrderSteps.Order;
import io.seckill.bench.stage.OrderSteps.Step;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisCommandsTest {

  private static final long FIRST = 250012125851098112L;
  private static final long SECOND = 250012125851098113L;
  private static final long SECOND_OF_ZERO = 1_000_000;

  private final OrderSteps steps = new OrderSteps();

  @Test
  void showWhenOrdersReachedTheSteps() {
    for (long id : new long[] {FIRST, SECOND}) {
      steps.reached(id, Step.DUE, SECOND_OF_ZERO);
      steps.reached(id, Step.ANSWERED, SECOND_OF_ZERO + 900);
      steps.reached(id, Step.DELIVERED, SECOND_OF_ZERO + 800);
      steps.reached(id, Step.VISIBLE, SECOND_OF_ZERO + 5_000);
    }
    assertThat(steps.incomplete()).isEqualTo(2);

    RedisCommands.addTo(
        steps,
        List.of(
            "OK",
            line(50, "'BRPOPLPUSH' 'seckill:{9}:outbox' 'seckill:{9}:lane:r:9:ab' '1'"),
            line(200, "'LPUSH' 'seckill:{9}:outbox' " + body(FIRST) + " " + body(SECOND)),
            line(300, "'LPUSH' 'seckill:{9}:lane:r:9:ab' " + body(SECOND)),
            line(850, "'BRPOPLPUSH' 'seckill:{9}:outbox' 'seckill:{9}:lane:r:9:ab' '1'"),
            line(
                1_700,
                "'EVALSHA' 'ab' '3' 'seckill:{9}:lanes' 'seckill:{9}:lane:r:9:ab' 'seckill:{9}:sku:9' 'r:9:ab' "
                    + body(FIRST)
                    + " '3' '1' "
                    + body(SECOND)
                    + " '3' '1'"),
            line(
                4_000,
                "'EVALSHA' 'cd' '2' 'seckill:{9}:sku:9' 'seckill:{9}:stock:0' 'seckill:{9}:' '9' '1700000000000' '1' '2' '"
                    + FIRST
                    + "' '1000000000' 'C' ''")));

    assertThat(steps.incomplete()).isZero();
    List<Order> orders = steps.slowestFirst();
    assertThat(orders)
        .extracting(order -> order.at(Step.ADMITTED) - SECOND_OF_ZERO)
        .containsOnly(200L);
    assertThat(orders)
        .extracting(order -> order.at(Step.CLAIMED) - SECOND_OF_ZERO)
        .as("the first by a BRPOPLPUSH that waited for it")
        .containsExactlyInAnyOrder(200L, 300L);
    assertThat(orders)
        .extracting(order -> order.at(Step.CONFIRMED) - SECOND_OF_ZERO)
        .containsOnly(1_700L);
    assertThat(orders)
        .extracting(order -> order.at(Step.COMMITTED) - SECOND_OF_ZERO)
        .as("at the latest when it is visible")
        .containsExactlyInAnyOrder(4_000L, 5_000L);
  }

  private static String line(long micros, String command) {
    return "1.%06d [0 lua] %s".formatted(micros, command.replace('\'', '"'));
  }

  /** As MONITOR writes it. */
  private static String body(long id) {
    return "'{\\'v\\':1,\\'orderId\\':\\'%d\\',\\'userId\\':1}'".formatted(id);
  }
}
