package io.seckill.relay;

import io.seckill.relay.lane.LaneState;
import io.seckill.relay.lane.LaneStatus;
import io.seckill.relay.lane.RelayLanes;
import io.seckill.relay.recovery.PartitionBacklog;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The recent work of a relay, and whether it is stuck.
 *
 * @param sinceRenewed time since Redis renewed a lease of the relay
 */
record LanesProgress(Duration sinceRenewed, List<Lane> lanes) {

  /** Longer than every time-out, pause and transfer of a lane that works. */
  static final Duration STUCK_AFTER = Duration.ofMinutes(1);

  /**
   * One lane.
   *
   * @param outstanding orders in its private queue
   * @param backlog orders that wait in its partition
   * @param reason why it is in its state; empty without a failure
   */
  record Lane(
      String name,
      LaneState state,
      Duration sinceMoved,
      int outstanding,
      PartitionBacklog backlog,
      String reason) {

    static Lane of(LaneStatus lane, PartitionBacklog backlog) {
      return new Lane(
          lane.lane(), lane.state(), lane.sinceMoved(), lane.outstanding(), backlog, lane.reason());
    }

    private boolean isStuck() {
      return (outstanding > 0 || backlog.isWork()) && sinceMoved.compareTo(STUCK_AFTER) > 0;
    }

    private String describe() {
      return ("lane %s (%s) has not moved for %d s; orders wait, %d in its private queue,"
              + " %d in its outbox, %d of dead lanes: %s")
          .formatted(
              name,
              state,
              sinceMoved.toSeconds(),
              outstanding,
              backlog.outbox(),
              backlog.dead(),
              reason);
    }
  }

  static LanesProgress of(RelayLanes lanes) {
    return new LanesProgress(
        lanes.sinceRenewed(),
        lanes.statuses().stream()
            .map(lane -> Lane.of(lane, lanes.backlog(lane.partition())))
            .toList());
  }

  /** Why the relay is not ready, without credentials; empty when it is ready. */
  Optional<String> failure() {
    if (sinceRenewed.compareTo(STUCK_AFTER) > 0) {
      return Optional.of("no lease renewed in Redis for " + sinceRenewed.toSeconds() + " s");
    }
    return lanes.stream().filter(Lane::isStuck).findFirst().map(Lane::describe);
  }
}
