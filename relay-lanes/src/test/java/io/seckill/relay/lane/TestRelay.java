package io.seckill.relay.lane;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.broker.BrokerAddresses;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.LinkSettings;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LeaseSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A relay in the test's JVM, with time-outs short enough for tests. */
public final class TestRelay implements AutoCloseable {

  /** Lanes, time-outs and publish window of a relay under test. */
  record Tuning(
      int lanesPerPartition,
      int maxUnconfirmed,
      Duration confirmTimeout,
      int heartbeatSeconds,
      LeaseSettings lease) {
    static final Tuning DEFAULT =
        new Tuning(
            1,
            512,
            Duration.ofSeconds(3),
            1,
            new LeaseSettings(
                Duration.ofSeconds(2),
                Duration.ofMillis(200),
                Duration.ofSeconds(4),
                Duration.ofSeconds(10)));

    /** For tests without failures: a slow machine must not be taken for a failure. */
    static final Tuning PATIENT =
        new Tuning(
            1,
            512,
            Duration.ofMinutes(1),
            60,
            new LeaseSettings(
                Duration.ofSeconds(30),
                Duration.ofMillis(200),
                Duration.ofMinutes(1),
                Duration.ofMinutes(1)));

    Tuning withMaxUnconfirmed(int orders) {
      return new Tuning(lanesPerPartition, orders, confirmTimeout, heartbeatSeconds, lease);
    }

    Tuning withConfirmTimeout(Duration timeout) {
      return new Tuning(lanesPerPartition, maxUnconfirmed, timeout, heartbeatSeconds, lease);
    }

    Tuning withLanesPerPartition(int lanes) {
      return new Tuning(lanes, maxUnconfirmed, confirmTimeout, heartbeatSeconds, lease);
    }

    Tuning withLease(LeaseSettings settings) {
      return new Tuning(
          lanesPerPartition, maxUnconfirmed, confirmTimeout, heartbeatSeconds, settings);
    }
  }

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final RelayLanes lanes;

  private TestRelay(RedisSettings redis, ConnectionFactory connections, Tuning tuning) {
    LaneSettings settings =
        new LaneSettings(
            "test",
            tuning.lanesPerPartition(),
            tuning.maxUnconfirmed(),
            tuning.confirmTimeout().plusSeconds(2));
    RelayMeters relayMeters = new RelayMeters(meters);
    BrokerConnector broker = connector(connections, tuning, relayMeters);
    this.lanes = new RelayLanes(settings, List.of(), tuning.lease(), redis, broker, relayMeters);
  }

  public static TestRelay start(String redisUrl, String brokerUrl) {
    return start(redisUrl, brokerUrl, Tuning.DEFAULT);
  }

  static TestRelay start(String redisUrl, String brokerUrl, Tuning tuning) {
    return start(RedisSettings.single(redisUrl), broker(brokerUrl, null), tuning);
  }

  static TestRelay start(RedisSettings redis, ConnectionFactory broker, Tuning tuning) {
    TestRelay relay = new TestRelay(redis, broker, tuning);
    relay.lanes.start();
    return relay;
  }

  static BrokerConnector connector(ConnectionFactory broker, Tuning tuning, RelayMeters meters) {
    return connector(broker, tuning, meters, "relay-service", true);
  }

  static BrokerConnector connector(
      ConnectionFactory broker,
      Tuning tuning,
      RelayMeters meters,
      String service,
      boolean declares) {
    broker.setRequestedHeartbeat(tuning.heartbeatSeconds());
    return new BrokerConnector(
        broker,
        new LinkSettings(service, declares, tuning.maxUnconfirmed(), tuning.confirmTimeout()),
        meters);
  }

  /**
   * @param urls one, or several with commas between them
   */
  static ConnectionFactory broker(String urls, @Nullable Path caFile) {
    return new BrokerAddresses(List.of(urls.split(",")), caFile);
  }

  /** The first lane of a partition. */
  LaneStatus lane(int partition) {
    return lanes.statuses().get(partition);
  }

  List<LaneStatus> lanesOf(int partition) {
    return lanes.statuses().stream().filter(lane -> lane.partition() == partition).toList();
  }

  List<LaneStatus> lanes() {
    return lanes.statuses();
  }

  RelayLanes relayLanes() {
    return lanes;
  }

  /** Value of a counter {@code seckill.relay.*}. */
  public long count(String counter) {
    Counter found = meters.find("seckill.relay." + counter).counter();
    return found == null ? 0 : (long) found.count();
  }

  /** Value of a gauge {@code seckill.relay.*} of the first partition. */
  double ofPartition0(String gauge) {
    return meters.get("seckill.relay." + gauge).tag("partition", "0").gauge().value();
  }

  double blockedSeconds() {
    return meters.get("seckill.relay.blocked.seconds").functionCounter().count();
  }

  @Override
  public void close() {
    lanes.stop();
  }
}
