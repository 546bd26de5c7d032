package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

class IntakeTest {

  private String failures = "";

  private final Intake intake =
      new Intake(null, null, null, null, null) {
        @Override
        String failures() {
          return failures;
        }
      };

  @Test
  void isDownWhileAQueueIsNotConsumed() {
    assertThat(intake.health().getStatus()).isEqualTo(Status.UP);

    failures = "has not moved for 61 s";
    assertThat(intake.health().getStatus()).isEqualTo(Status.DOWN);
    assertThat(intake.health().getDetails()).as("for operators' logs only").isEmpty();

    failures = "";
    assertThat(intake.health().getStatus()).isEqualTo(Status.UP);
  }
}
