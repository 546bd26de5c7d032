package io.seckill.relay;

import io.seckill.relay.lane.RelayLanes;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * DOWN, with the reason, when a lane has made no progress for a minute although there is work for
 * it, or when Redis has not answered for that long. Readiness shows the reason, which names servers
 * and errors but no credentials; each change is logged once.
 */
@Component
class LanesHealthIndicator implements HealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(LanesHealthIndicator.class);

  private final Supplier<LanesProgress> progress;
  private boolean up = true;

  @Autowired
  LanesHealthIndicator(RelayLanes lanes) {
    this(() -> LanesProgress.of(lanes));
  }

  LanesHealthIndicator(Supplier<LanesProgress> progress) {
    this.progress = progress;
  }

  @Override
  public Health health() {
    Optional<String> failure = progress.get().failure();
    report(failure);
    return failure
        .map(reason -> Health.down().withDetail("reason", reason).build())
        .orElseGet(() -> Health.up().build());
  }

  private synchronized void report(Optional<String> failure) {
    if (failure.isPresent() == up) {
      up = failure.isEmpty();
      if (up) {
        log.info("ready again: all lanes make progress");
      } else {
        log.error("not ready: {}", failure.get());
      }
    }
  }
}
