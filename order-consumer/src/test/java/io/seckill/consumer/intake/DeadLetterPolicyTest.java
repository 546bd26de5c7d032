package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.intake.DeadLetterPolicy.Attempts;
import io.seckill.testing.DeployedSettings;
import java.time.Clock;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeadLetterPolicyTest {

  private static final String TIMEOUT = "consumer_timeout = ";

  /** The attempts themselves take time, too. */
  @Test
  void pausesForLessThanHalfOfTheBrokersDeliveryTimeout() {
    Duration timeout =
        DeployedSettings.rabbit().stream()
            .filter(line -> line.startsWith(TIMEOUT))
            .map(line -> Duration.ofMillis(Long.parseLong(line.substring(TIMEOUT.length()))))
            .findFirst()
            .orElseThrow();
    int most = IntakeProperties.MOST_ATTEMPTS;
    DeadLetterPolicy policy =
        new DeadLetterPolicy(new IntakeProperties(true, 500, most), Clock.systemUTC());

    Duration pauses =
        IntStream.range(1, most)
            .mapToObj(count -> policy.pauseAfter(new Attempts(count, 0, 0)))
            .reduce(Duration.ZERO, Duration::plus);

    assertThat(pauses).isLessThan(timeout.dividedBy(2));
  }
}
