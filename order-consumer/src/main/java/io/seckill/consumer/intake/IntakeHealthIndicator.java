package io.seckill.consumer.intake;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * DOWN when orders may wait in a queue which this process should read and, by a defect of its own,
 * does not; the log has the reason once per change. A broker or a MySQL that is away does not
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
        log.info("ready again: all queues are read");
      } else {
        log.error("not ready: {}", failures);
      }
    }
  }
}
