package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.intake.DeadLetterPolicy.Attempts;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.testing.DeployedSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DeadLetterPolicyTest {

  private static final String TIMEOUT = "consumer_timeout = ";

  private static final int MOST_IN_HAND = QueueIntake.PREFETCH * OrderLines.MOST_ORDERS;

  /** Of a transaction that MySQL refuses, with its eight statements, at a server in the network. */
  private static final Duration REFUSAL = Duration.ofMillis(8);

  /** The order alone, and one of the halves for each order, each tried three times. */
  private static final int REFUSALS_PER_ATTEMPT = 6;

  /** RabbitMQ would end the session, and deliver all that it holds again. */
  @Test
  void givesUpAllOrdersInHandWithinTheBrokersDeliveryTimeout() {
    Duration ofAnOrder = REFUSAL.multipliedBy(5L * REFUSALS_PER_ATTEMPT);

    assertThat(ofAnOrder.multipliedBy(MOST_IN_HAND)).isLessThan(timeout());
  }

  @Test
  void countsTheAttemptsOfAllOrdersInHand() {
    DeadLetterPolicy policy =
        new DeadLetterPolicy(new IntakeProperties(true, 500, 5), Clock.systemUTC());
    List<OrderMessage> orders =
        Stream.generate(() -> OrderFlood.order(16, PurchasePolicy.LIMITED, 1, 1))
            .limit((long) MOST_IN_HAND * BrokerTopology.ORDER_QUEUES)
            .toList();
    orders.forEach(policy::count);

    assertThat(orders).allMatch(order -> policy.count(order).count() == 2);
  }

  /** The attempts themselves take time, too. */
  @Test
  void pausesForLessThanHalfOfTheBrokersDeliveryTimeout() {
    int most = IntakeProperties.MOST_ATTEMPTS;
    DeadLetterPolicy policy =
        new DeadLetterPolicy(new IntakeProperties(true, 500, most), Clock.systemUTC());

    Duration pauses =
        IntStream.range(1, most)
            .mapToObj(count -> policy.pauseAfter(new Attempts(count, 0, 0)))
            .reduce(Duration.ZERO, Duration::plus);

    assertThat(pauses).isLessThan(timeout().dividedBy(2));
  }

  private static Duration timeout() {
    return DeployedSettings.rabbit().stream()
        .filter(line -> line.startsWith(TIMEOUT))
        .map(line -> Duration.ofMillis(Long.parseLong(line.substring(TIMEOUT.length()))))
        .findFirst()
        .orElseThrow();
  }
}
