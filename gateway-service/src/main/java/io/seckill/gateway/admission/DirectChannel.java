package io.seckill.gateway.admission;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.ProcessName;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.LaneSettings;
import io.seckill.relay.lane.RelayLanes;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.LinkSettings;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.support.broker.BrokerSettings;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.stereotype.Component;

/**
 * This gateway's lanes, one per partition, with a relay's defaults. They declare no topology, so
 * that a gateway may not change queues; relays and consumers do. Started by its constructor; a
 * close publishes nothing new and waits for confirms. Only a gateway that promises on the broker's
 * confirm needs its address.
 */
@Component
@ConditionalOnProperty(name = "seckill.admission.durable-in", havingValue = "broker")
@EnableConfigurationProperties(BrokerSettings.class)
final class DirectChannel implements AutoCloseable {

  private static final int WINDOW = 512;
  private static final Duration CONFIRM_TIMEOUT = Duration.ofSeconds(10);

  private final List<LaneMailbox> mailboxes =
      Stream.generate(() -> new LaneMailbox(WINDOW)).limit(Partition.COUNT).toList();
  private final RelayLanes lanes;

  DirectChannel(BrokerSettings broker, RedisSettings redis, MeterRegistry registry) {
    RelayMeters meters = new RelayMeters(registry);
    LinkSettings links = new LinkSettings("gateway-service", false, WINDOW, CONFIRM_TIMEOUT);
    String name = RedisKeys.GATEWAY_LANES + ProcessName.host();
    this.lanes =
        new RelayLanes(
            new LaneSettings(name, 1, WINDOW, CONFIRM_TIMEOUT),
            mailboxes,
            LeaseSettings.DEFAULT,
            redis,
            new BrokerConnector(broker.factory(), links, meters),
            meters);
    lanes.start();
  }

  /** By partition. */
  List<LaneMailbox> lanes() {
    return mailboxes;
  }

  @Override
  public void close() {
    lanes.stop();
  }
}
