package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

class IntakeHealthIndicatorTest {

  private List<String> failures = List.of();

  private final IntakeHealthIndicator indicator =
      new IntakeHealthIndicator(
          new Intake(null, null, null, null, null) {
            @Override
            List<String> failures() {
              return failures;
            }
          });

  @Test
  void isDownWhileAQueueIsNotConsumed() {
    assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);

    failures = List.of("seckill.orders.2: has not moved for 61 s");
    assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
    assertThat(indicator.health().getDetails()).as("for operators' logs only").isEmpty();

    failures = List.of();
    assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
  }
}
