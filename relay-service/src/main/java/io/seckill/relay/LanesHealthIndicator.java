package io.seckill.relay;

import io.seckill.relay.lane.LaneStatus;
import io.seckill.relay.lane.RelayLanes;
import java.time.Duration;
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

  private static final Duration STUCK_AFTER = Duration.ofMinutes(1);

  private final RelayLanes lanes;
  private boolean up = true;

  LanesHealthIndicator(RelayLanes lanes) {
    this.lanes = lanes;
  }

  @Override
  public Health health() {
    Optional<String> failure = failure();
    report(failure);
    return failure
        .map(reason -> Health.down().withDetail("reason", reason).build())
        .orElseGet(() -> Health.up().build());
  }

  private Optional<String> failure() {
    if (lanes.sinceRenewed().compareTo(STUCK_AFTER) > 0) {
      return Optional.of(
          "no lease renewed in Redis for " + lanes.sinceRenewed().toSeconds() + " s");
    }
    return lanes.statuses().stream().filter(this::isStuck).findFirst().map(this::describe);
  }

  private boolean isStuck(LaneStatus lane) {
    boolean work = lane.outstanding() > 0 || lanes.backlog(lane.partition()).isWork();
    return work && lane.sinceMoved().compareTo(STUCK_AFTER) > 0;
  }

  private String describe(LaneStatus lane) {
    return "lane %s (%s) has not moved for %d s, %d orders wait in its outbox: %s"
        .formatted(
            lane.lane(),
            lane.state(),
            lane.sinceMoved().toSeconds(),
            lanes.backlog(lane.partition()).outbox(),
            lane.reason());
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
