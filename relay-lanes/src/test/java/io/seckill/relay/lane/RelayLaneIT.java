package io.seckill.relay.lane;

import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Delivery;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.RecordedMessages;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.TestRelay.Tuning;
import io.seckill.relay.publish.DeafBroker;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RelayLaneIT extends LaneFixture {

  @Test
  void carriesEveryOrderOnceFromAllPartitionsToTheirQueues() {
    List<String> admitted = outbox.admit(4_000, TestOutbox.skusOfEveryPartition());
    try (TestRelay relay = start(Tuning.PATIENT)) {
      eventually().until(() -> broker.seen() == admitted.size());
      eventually().until(() -> outbox.inPrivateQueues() == 0);

      assertThat(broker.deliveries()).containsOnlyKeys(admitted);
      assertThat(broker.duplicates()).isZero();
      assertThat(outbox.waiting()).isZero();
      eventually().until(() -> relay.count("settled") == 4_000);
    }
  }

  @Test
  void keepsTheOrderOfAdmissionWithinASku() {
    List<String> admitted = outbox.admit(2_000, 1603);
    try (TestRelay relay = start(Tuning.PATIENT)) {
      eventually().until(() -> relay.count("settled") == 2_000);

      eventually().until(() -> broker.seen() == 2_000);

      assertThat(broker.orders())
          .allMatch(order -> order.getEnvelope().getRoutingKey().equals("3"))
          .extracting(order -> order.getProperties().getMessageId())
          .containsExactlyElementsOf(admitted);
    }
  }

  @Test
  void setsThePropertiesOfTheMessage() throws Exception {
    String traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    OrderMessage order = outbox.message(1605, 2, traceparent);
    outbox.admitText(5, OrderMessageCodec.encode(order));
    try (TestRelay relay = start()) {
      eventually().until(() -> relay.count("settled") == 1);
    }
    eventually().until(() -> broker.seen() == 1);
    Delivery message = broker.orders().get(0);
    assertThat(message.getEnvelope().getRoutingKey()).isEqualTo("1");
    assertThat(OrderMessageCodec.decode(message.getBody())).isEqualTo(order);
    assertThat(message.getProperties().getMessageId()).isEqualTo(order.orderId().toString());
    assertThat(message.getProperties().getDeliveryMode()).isEqualTo(2);
    assertThat(message.getProperties().getContentType()).isEqualTo("application/json");
    assertThat(message.getProperties().getAppId()).isEqualTo("seckill-relay");
    assertThat(message.getProperties().getType()).isEqualTo("order.v1");
    assertThat(message.getProperties().getTimestamp().toInstant())
        .as("AMQP counts seconds")
        .isEqualTo(Instant.ofEpochMilli(order.admittedAt()).truncatedTo(ChronoUnit.SECONDS));
    assertThat(message.getProperties().getHeaders().get("traceparent")).hasToString(traceparent);
  }

  @Test
  void countsPublishedOrdersAndUnitsOnlyWhereTheSkuIsPreheated() {
    outbox.preheat(1601);
    outbox.admitText(1, OrderMessageCodec.encode(outbox.message(1601, 3, null)));
    outbox.admitText(1, OrderMessageCodec.encode(outbox.message(1601, 4, null)));
    outbox.admitText(1, OrderMessageCodec.encode(outbox.message(1617, 5, null)));
    try (TestRelay relay = start()) {
      eventually().until(() -> relay.count("settled") == 3);
      eventually().until(() -> outbox.inPrivateQueues() == 0);
    }
    assertThat(outbox.counter(1601, "publishedOrders")).isEqualTo(2);
    assertThat(outbox.counter(1601, "publishedUnits")).isEqualTo(7);
    assertThat(outbox.redis().exists(RedisKeys.sku(1617))).isFalse();
  }

  @Test
  void sendsAnUnreadableEntryToTheDeadLettersAndGoesOn() {
    outbox.admitText(7, "{\"w\":9}");
    List<String> admitted = outbox.admit(3, 1607);
    try (TestRelay relay = start(Tuning.PATIENT)) {
      eventually().until(() -> relay.count("settled") == 4);
      assertThat(relay.count("unreadable")).isEqualTo(1);
    }
    eventually().until(() -> broker.deadLetters().size() == 1 && broker.seen() == 3);
    Delivery dead = broker.deadLetters().get(0);
    assertThat(new String(dead.getBody(), UTF_8)).isEqualTo("{\"w\":9}");
    Map<String, Object> headers = dead.getProperties().getHeaders();
    assertThat(headers.get(BrokerTopology.REASON_HEADER)).hasToString("UNREADABLE");
    assertThat(headers.get(BrokerTopology.DETAIL_HEADER).toString()).contains("v is missing");
    assertThat(headers.get(BrokerTopology.ROUTING_KEY_HEADER))
        .as("of partition 7, for a replay")
        .hasToString("3");
    assertThat(broker.deliveries()).containsOnlyKeys(admitted);
    assertThat(outbox.inPrivateQueues()).isZero();
  }

  @Test
  void sendsAnEntryOfAnotherVersionToTheDeadLettersForItsVersion() {
    outbox.admitText(7, "{\"v\":9,\"orderId\":7}");
    try (TestRelay relay = start(Tuning.PATIENT)) {
      eventually().until(() -> relay.count("settled") == 1);
    }
    eventually().until(() -> broker.deadLetters().size() == 1);
    Map<String, Object> headers = broker.deadLetters().get(0).getProperties().getHeaders();
    assertThat(headers.get(BrokerTopology.REASON_HEADER)).hasToString("UNSUPPORTED_VERSION");
    assertThat(headers.get(BrokerTopology.DETAIL_HEADER).toString()).contains("version 9");
  }

  @Test
  void carriesMessagesOfOtherReleasesByteForByte() {
    List<String> entries = new ArrayList<>();
    entries.add(recorded("order-v1.json"));
    entries.add(recorded("order-v1-traced.json"));
    entries.add(recorded("order-v1.json").replace("}", ",\"giftWrap\":{\"colour\":\"red\"}}"));
    entries.forEach(entry -> outbox.admitText(Partition.ofSku(1001), entry));
    try (TestRelay relay = start(Tuning.PATIENT)) {
      eventually().until(() -> relay.count("settled") == 3);
    }
    eventually().until(() -> broker.orders().size() == 3);
    assertThat(broker.orders().stream().map(order -> new String(order.getBody(), UTF_8)))
        .containsExactlyElementsOf(entries);
    assertThat(broker.deadLetters()).isEmpty();
    assertThat(outbox.inPrivateQueues()).isZero();
  }

  @Test
  void takesNothingWhileAnAlarmBlocksItsLink() {
    outbox.admit(5, SKU);
    outbox.redis().zadd(RedisKeys.lanes(0), 1, "dead:0:aa");
    outbox.claimLate("dead:0:aa", SKU);
    try (TestRelay relay =
        TestRelay.start(RedisSettings.single(redis.url()), new DeafBroker(), Tuning.DEFAULT)) {
      awaitAll(relay, LaneState.BLOCKED);

      assertThat(outbox.waiting()).isEqualTo(5);
      assertThat(relay.blockedSeconds()).isPositive();
      eventually().until(() -> relay.ofPartition0("outbox.depth") == 5);
      eventually().until(() -> relay.ofPartition0("dead.queue.orders") == 1);
      eventually().until(() -> relay.ofPartition0("outbox.oldest.age.seconds") > 0);
    }
  }

  private static String recorded(String name) {
    return new String(RecordedMessages.read(name), UTF_8);
  }
}
