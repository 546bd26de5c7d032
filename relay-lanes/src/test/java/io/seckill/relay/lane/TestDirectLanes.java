package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.publish.RelayMeters;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A gateway's lanes in the test's JVM, with the time-outs of {@link TestRelay}. They declare no
 * queue.
 */
public final class TestDirectLanes implements AutoCloseable {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<LaneMailbox> mailboxes;
  private final RelayLanes lanes;

  private TestDirectLanes(String redisUrl, String brokerUrl, Tuning tuning) {
    RelayMeters relayMeters = new RelayMeters(meters);
    this.mailboxes =
        Stream.generate(() -> new LaneMailbox(tuning.maxUnconfirmed()))
            .limit(Partition.COUNT)
            .toList();
    this.lanes =
        new RelayLanes(
            new LaneSettings(
                RedisKeys.GATEWAY_LANES + "test",
                1,
                tuning.maxUnconfirmed(),
                tuning.confirmTimeout()),
            mailboxes,
            tuning.lease(),
            RedisSettings.single(redisUrl),
            TestRelay.connector(
                TestRelay.broker(brokerUrl, null), tuning, relayMeters, "gateway-service", false),
            relayMeters);
  }

  /**
   * @param window most orders of one lane that are not settled
   */
  static TestDirectLanes start(String redisUrl, String brokerUrl, int window) {
    return start(redisUrl, brokerUrl, Tuning.DEFAULT.withMaxUnconfirmed(window));
  }

  /** As {@link #start}, for tests without failures. */
  public static TestDirectLanes startPatient(String redisUrl, String brokerUrl, int window) {
    return start(redisUrl, brokerUrl, Tuning.PATIENT.withMaxUnconfirmed(window));
  }

  private static TestDirectLanes start(String redisUrl, String brokerUrl, Tuning tuning) {
    TestDirectLanes started = new TestDirectLanes(redisUrl, brokerUrl, tuning);
    started.lanes.start();
    return started;
  }

  /** A mailbox that is open without a lane. */
  public static LaneMailbox openMailbox(Runnable wake) {
    LaneMailbox mailbox = new LaneMailbox(64);
    mailbox.open("none", wake, false);
    return mailbox;
  }

  /** As its lane sees it. */
  public static int outstanding(LaneMailbox mailbox) {
    return mailbox.outstanding();
  }

  /** By partition. */
  public List<LaneMailbox> mailboxes() {
    return mailboxes;
  }

  /** The token of a partition's lease, once its lane takes orders. */
  public String awaitOpen(int partition) {
    return eventually().until(() -> mailboxes.get(partition).reserve(0), Objects::nonNull).token();
  }

  LaneStatus lane(int partition) {
    return lanes.statuses().get(partition);
  }

  /**
   * Pushes orders to the private queue of the SKU's lane and hands them over, as admission does.
   *
   * @return their ids; none when the lane takes no orders now
   */
  List<String> admit(TestOutbox outbox, int orders, long sku) {
    return admit(outbox, orders, sku, () -> {});
  }

  /**
   * As {@link #admit}.
   *
   * @param reserved runs after the room was reserved and before the push
   */
  List<String> admit(TestOutbox outbox, int orders, long sku, Runnable reserved) {
    Reservation room = mailboxes.get(Partition.ofSku(sku)).reserve(orders);
    if (room == null) {
      return List.of();
    }
    reserved.run();
    List<String> ids = new ArrayList<>();
    List<byte[]> pushed = new ArrayList<>();
    for (int i = 0; i < orders; i++) {
      OrderMessage message = outbox.message(sku);
      ids.add(message.orderId().toString());
      pushed.add(OrderMessageCodec.encode(message).getBytes(UTF_8));
    }
    byte[] queue = RedisKeys.privateQueue(Partition.ofSku(sku), room.token()).getBytes(UTF_8);
    outbox.redis().lpush(queue, pushed.toArray(byte[][]::new));
    room.deliver(
        pushed.stream().map(body -> OutboundOrder.of(body, Partition.ofSku(sku))).toList());
    return ids;
  }

  /** Value of a counter {@code seckill.relay.*}. */
  public long count(String counter) {
    return (long) meters.get("seckill.relay." + counter).counter().count();
  }

  /** Publishes that the broker has confirmed. */
  public long confirmed() {
    return meters.get("seckill.relay.confirm").timer().count();
  }

  @Override
  public void close() {
    lanes.stop();
  }
}
