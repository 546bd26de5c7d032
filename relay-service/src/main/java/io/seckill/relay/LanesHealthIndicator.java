package io.seckill.relay;

import io.seckill.relay.lane.RelayLanes;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

  private final RelayLanes lanes;
  private boolean up = true;

  LanesHealthIndicator(RelayLanes lanes) {
    this.lanes = lanes;
  }

  @Override
  public Health health() {
    Optional<String> failure = progress().failure();
    report(failure);
    return failure
        .map(reason -> Health.down().withDetail("reason", reason).build())
        .orElseGet(() -> Health.up().build());
  }

  private LanesProgress progress() {
    return new LanesProgress(
        lanes.sinceRenewed(),
        lanes.statuses().stream()
            .map(lane -> LanesProgress.Lane.of(lane, lanes.backlog(lane.partition())))
            .toList());
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
