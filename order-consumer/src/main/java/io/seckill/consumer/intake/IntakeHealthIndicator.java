package io.seckill.consumer.intake;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * DOWN when orders may wait in a queue that this process should consume and, because of a defect of
 * its own, does not; logs the reason once per change. An unavailable broker or MySQL does not
 * count: payments and operators do not need both.
 */
@Component
class IntakeHealthIndicator implements HealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(IntakeHealthIndicator.class);

  private final Intake intake;
  private boolean up = true;

  IntakeHealthIndicator(Intake intake) {
    this.intake = intake;
  }

  @Override
  public Health health() {
    String failures = String.join("; ", intake.failures());
    report(failures);
    return failures.isEmpty() ? Health.up().build() : Health.down().build();
  }

  private synchronized void report(String failures) {
    if (failures.isEmpty() != up) {
      up = failures.isEmpty();
      if (up) {
        log.info("ready again: all queues are consumed");
      } else {
        log.error("not ready: {}", failures);
      }
    }
  }
}
