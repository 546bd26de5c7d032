package io.seckill.relay.lane;

import io.micrometer.core.instrument.Tags;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LaneLeaseRenewer;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.relay.recovery.PartitionBacklog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Owns all lanes of one process and the renewer of their leases. The start does not wait for Redis
 * or the broker; a stop first requests all lanes to stop and then waits for all of them together.
 */
public final class RelayLanes implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(RelayLanes.class);

  /** Time after the drain for the current round and the release of the lease. */
  private static final Duration STOP_MARGIN = Duration.ofSeconds(2);

  private final LaneSettings settings;
  private final List<RelayLane> lanes = new ArrayList<>();
  private final LaneLeaseRenewer renewer;
  private volatile boolean running;

  /**
   * @param mailboxes one per partition, for lanes of a gateway; empty for lanes of a relay
   */
  public RelayLanes(
      LaneSettings settings,
      List<LaneMailbox> mailboxes,
      LeaseSettings leaseSettings,
      RedisSettings redisSettings,
      BrokerConnector broker,
      RelayMeters meters) {
    leaseSettings.checkQuietPeriod(RelayLane.POLL_INTERVAL.plus(redisSettings.socketTimeout()));
    this.settings = settings;
    List<LaneLease> leases = new ArrayList<>();
    for (int n = 0; n < Partition.COUNT * settings.lanesPerPartition(); n++) {
      int partition = n % Partition.COUNT;
      LaneLease lease = new LaneLease(settings.name(), n, partition, leaseSettings.duration());
      leases.add(lease);
      String name = settings.name() + "-" + n;
      LaneConnections connections =
          new LaneConnections(name, RelayLane.POLL_INTERVAL, redisSettings, broker, lease);
      lanes.add(
          mailboxes.isEmpty()
              ? new RelayLane(name, settings, connections, lease, meters)
              : new DirectLane(
                  name, settings, connections, lease, meters, mailboxes.get(partition)));
    }
    this.renewer = new LaneLeaseRenewer(redisSettings, leaseSettings, leases, mailboxes.isEmpty());
    lanes.forEach(lane -> register(lane.status(), meters));
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      register(partition, meters);
    }
  }

  private static void register(LaneStatus status, RelayMeters meters) {
    Tags tags = Tags.of("lane", status.lane(), "partition", Integer.toString(status.partition()));
    meters.gauge(
        "private.queue", "orders taken and not settled, per lane", tags, status::outstanding);
    meters.gauge("in.flight", "orders without an answer, per lane", tags, status::inFlight);
    for (LaneState state : LaneState.values()) {
      meters.gauge(
          "lane.state",
          "1 for the state a lane is in",
          tags.and("state", state.name().toLowerCase(Locale.ROOT)),
          () -> status.state() == state ? 1 : 0);
    }
  }

  private void register(int partition, RelayMeters meters) {
    Tags tags = Tags.of("partition", Integer.toString(partition));
    meters.gauge(
        "outbox.depth",
        "orders no lane has taken yet",
        tags,
        () -> renewer.backlog(partition).outbox());
    meters.gauge(
        "dead.queue.orders",
        "orders in private queues of lanes that are dead, to be adopted",
        tags,
        () -> renewer.backlog(partition).dead());
    meters.gauge(
        "outbox.oldest.age.seconds",
        "time since the admission of the oldest of them",
        tags,
        () -> renewer.backlog(partition).oldestAgeMs() / (double) TimeUnit.SECONDS.toMillis(1));
  }

  @Override
  public void start() {
    running = true;
    thread(renewer, "relay-leases").start();
    for (RelayLane lane : lanes) {
      thread(lane, "lane-" + lane.status().lane()).start();
    }
    log.info("{} started {} lanes", settings.name(), lanes.size());
  }

  private static Thread thread(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setUncaughtExceptionHandler(
        (dead, cause) ->
            log.error("{} ended with an exception; readiness shows it", dead.getName(), cause));
    return thread;
  }

  @Override
  public void stop() {
    lanes.forEach(RelayLane::requestStop);
    long deadline =
        System.nanoTime()
            + settings.drainTimeout().plus(RelayLane.POLL_INTERVAL).plus(STOP_MARGIN).toNanos();
    try {
      for (RelayLane lane : lanes) {
        lane.awaitStopped(Duration.ofNanos(deadline - System.nanoTime()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      renewer.requestStop(); // last: draining lanes need their leases
      running = false;
      log.info("{} stopped its lanes", settings.name());
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  public List<LaneStatus> statuses() {
    return lanes.stream().map(RelayLane::status).toList();
  }

  /** Orders waiting in a partition, as last read from Redis. */
  public PartitionBacklog backlog(int partition) {
    return renewer.backlog(partition);
  }

  /** Time since the leases were last renewed in Redis. */
  public Duration sinceRenewed() {
    return renewer.sinceRenewed();
  }
}
