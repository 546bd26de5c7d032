package io.seckill.gateway.admission;

import static io.seckill.gateway.admission.Calls.attempt;
import static io.seckill.testing.Eventually.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Delivery;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.relay.lane.LaneMailbox;
import io.seckill.relay.lane.TestBroker;
import io.seckill.relay.lane.TestDirectLanes;
import io.seckill.relay.lane.TestOutbox;
import io.seckill.relay.lane.TestRelay;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.ShippedUsers;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

@ExtendWith(TestServers.class)
class DirectChannelIT {

  private static final int WINDOW = 64;
  private static final Durability IN_BROKER =
      new Durability(Durability.Store.BROKER, 0, Duration.ofMillis(300));

  /** For what must be confirmed, however busy the machine is. */
  private static final Durability IN_BROKER_PATIENTLY =
      new Durability(Durability.Store.BROKER, 0, Duration.ofSeconds(30));

  private final RedisServer redisServer = TestServers.redis();
  private final RabbitServer rabbitServer = TestServers.rabbit();
  private final RedisDatabase database = redisServer.newDatabase();

  @AutoClose private final UnifiedJedis redis = database.open();

  @AutoClose private final TestOutbox outbox = new TestOutbox(database.url());
  private final RabbitVhost rabbit = rabbitServer.newVhost();
  @AutoClose private final TestBroker broker = TestBroker.consuming(rabbit.url());

  @Test
  void publishesWhatWasAdmittedWithoutTheOutbox() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 3);
    try (TestDirectLanes lanes = startPatient()) {
      lanes.awaitOpen(sale.partition());
      List<Admission> outcomes =
          new Calls(redis, IN_BROKER_PATIENTLY, lanes.mailboxes())
              .together(
                  attempt(sale, 1, "key-0001", 1),
                  attempt(sale, 1, "key-0002", 1),
                  attempt(sale, 2, "key-0001", 1),
                  attempt(sale, 2, "key-0001", 1),
                  attempt(sale, 3, "key-0001", 1),
                  attempt(sale, 4, "key-0001", 1));

      assertThat(sale.outbox()).isEmpty();
      List<String> admitted = admitted(outcomes);
      assertThat(admitted).hasSize(3);
      assertThat(((Admitted) outcomes.get(4)).position()).isEqualTo(3);
      eventually().until(() -> broker.seen() == 3 && outbox.inPrivateQueues() == 0);
      assertThat(broker.orders())
          .extracting(DirectChannelIT::idOf)
          .containsExactlyElementsOf(admitted);
      assertThat(sale.counter("publishedOrders")).isEqualTo(3);
    }
  }

  @Test
  void usesTheOutboxWhenTheLaneHasNoRoomForTheCall() {
    TestSale sale = TestSale.unlimited(redis, 100);
    try (TestDirectLanes lanes = startPatient()) {
      lanes.awaitOpen(sale.partition());
      lanes.mailboxes().get(sale.partition()).reserve(WINDOW - 1);
      Calls calls = new Calls(redis, IN_BROKER, lanes.mailboxes());

      calls.together(attempt(sale, 1, "key-0001", 1), attempt(sale, 2, "key-0001", 1));
      assertThat(sale.outbox()).hasSize(2);
      assertThat(outbox.inPrivateQueues()).isZero();

      calls.one(attempt(sale, 3, "key-0001", 1));
      assertThat(sale.outbox()).hasSize(2);
      eventually().until(() -> broker.seen() == 1);
    }
  }

  @Test
  void usesTheOutboxOnceWhenTheLeaseWasFencedAndThenANewLease() {
    TestSale sale = TestSale.unlimited(redis, 100);
    try (TestDirectLanes lanes = startPatient()) {
      String fenced = lanes.awaitOpen(sale.partition());
      Calls calls = new Calls(redis, IN_BROKER, lanes.mailboxes());
      // Once the call has its token: later the lane has a new lease.
      calls.beforeReply(() -> redis.zadd(RedisKeys.lanes(sale.partition()), -1, fenced));

      assertThat(calls.one(attempt(sale, 1, "key-0001", 1))).isEqualTo(Unknown.BROKER);
      assertThat(sale.outbox()).hasSize(1);
      assertThat(TestDirectLanes.outstanding(lanes.mailboxes().get(sale.partition()))).isZero();

      eventually().until(() -> !lanes.awaitOpen(sale.partition()).equals(fenced));
      calls.one(attempt(sale, 2, "key-0001", 1));
      eventually().until(() -> broker.seen() == 1 && outbox.inPrivateQueues() == 0);
      try (TestRelay relay = TestRelay.start(database.url(), rabbit.url())) {
        eventually().until(() -> broker.seen() == 2);
        assertThat(relay.count("adopted")).isZero();
      }
    }
  }

  @Test
  void publishesAnOrderWhoseAdmissionWasNotAnswered() throws Exception {
    TestSale sale = TestSale.unlimited(redis, 100);
    try (TcpProxy proxy = TcpProxy.to(redisServer);
        UnifiedJedis slow = RedisDatabase.open(database.via(proxy).url(), Duration.ofSeconds(5));
        TestDirectLanes lanes = startPatient()) {
      String token = lanes.awaitOpen(sale.partition());
      Calls calls = new Calls(slow, IN_BROKER, lanes.mailboxes());
      calls.one(attempt(sale, 1, "key-0001", 101)); // refused; the script is loaded
      proxy.dropToClient(true);

      CompletableFuture<Admission> asked =
          CompletableFuture.supplyAsync(() -> calls.one(attempt(sale, 2, "key-0001", 1)));
      eventually().until(() -> asked.isDone() || sale.stock() == 99);
      proxy.cut(); // or the answer would be waited for
      assertThatThrownBy(() -> Bounded.get(asked)).hasCauseInstanceOf(JedisException.class);

      eventually().until(() -> broker.seen() == 1 && outbox.inPrivateQueues() == 0);
      assertThat(sale.outbox()).isEmpty();
      assertThat(lanes.awaitOpen(sale.partition())).isNotEqualTo(token);
    }
  }

  @Test
  void returnsItsRoomWhenAnotherServerAnswers() {
    TestSale sale = TestSale.unlimited(redis, 100);
    try (TestDirectLanes lanes = startPatient()) {
      String token = lanes.awaitOpen(sale.partition());
      Calls calls = new Calls(redis, IN_BROKER, lanes.mailboxes());
      calls.servers().verified(sale.partition(), "0".repeat(40));

      assertThat(calls.one(attempt(sale, 1, "key-0001", 1))).isEqualTo(Unknown.UNVERIFIED);
      assertThat(lanes.mailboxes().get(sale.partition()).reserve(WINDOW).token()).isEqualTo(token);
    }
  }

  @Tag("proof")
  @Test
  void admitsAndPublishesWithTheRightsItIsShippedWith(MySqlServer mysql) throws Exception {
    try (RedisServer server = RedisServer.start();
        UnifiedJedis admin = server.open()) {
      ShippedUsers.inRedis(admin, "gateway");
      TestSale sale = TestSale.unlimited(admin, 100);
      String redisUrl = "redis://gateway:%s@127.0.0.1:%d".formatted(password(), server.port());
      String brokerUrl = ShippedUsers.inRabbit(rabbitServer, rabbit, "gateway");
      String nobody = brokerUrl.replace(":" + rabbitServer.port(), ":" + Ports.free());
      try (TestGateway gateway =
          SeededDatabase.create(mysql)
              .gateway(
                  redisUrl,
                  "seckill.admission.durable-in=broker",
                  "seckill.broker.urls=" + nobody + "," + brokerUrl)) {
        var lane = gateway.bean(DirectChannel.class).lanes().get(sale.partition());
        eventually().until(() -> lane.reserve(0) != null);
        eventually().until(() -> gateway.buy(1, sale.sku(), 1, "key-0001").status() == 202);
        assertThat(sale.outbox()).isEmpty();
        eventually("the confirmed order").until(() -> broker.seen() > 0);
        eventually().until(() -> sale.counter("publishedOrders") == 1);
      }
      assertThat(admin.zrangeWithScores(RedisKeys.lanes(sale.partition()), 0, -1))
          .as("relays need not wait for the end of its leases")
          .isNotEmpty()
          .allMatch(lane -> lane.getElement().startsWith("gateway@") && lane.getScore() < 0);
    }
  }

  private static String password() {
    return ShippedUsers.PASSWORD;
  }

  @Test
  void admitsThroughTheOutboxAndPromisesNothingWithoutABroker(MySqlServer mysql) {
    TestSale sale = TestSale.unlimited(redis, 100);
    try (TestGateway gateway =
        SeededDatabase.create(mysql)
            .gateway(
                database.url(),
                "seckill.admission.durable-in=broker",
                "seckill.broker.urls=amqp://nobody:none@127.0.0.1:1/none")) {
      assertThat(gateway.buy(1, sale.sku(), 1, "key-0001").status()).isEqualTo(503);
      assertThat(sale.outbox()).hasSize(1);
    }
  }

  @Test
  void promisesOnlyWhatTheBrokerHasConfirmed() throws Exception {
    TestSale sale = TestSale.open(redis, PurchasePolicy.ONE_PER_USER, 1, 10);
    try (TcpProxy proxy = TcpProxy.to(rabbitServer);
        TestDirectLanes lanes =
            TestDirectLanes.startPatient(database.url(), rabbit.via(proxy).url(), WINDOW)) {
      Calls calls = new Calls(redis, IN_BROKER_PATIENTLY, lanes.mailboxes());
      Calls impatient = new Calls(redis, IN_BROKER, lanes.mailboxes());
      lanes.awaitOpen(sale.partition());
      assertThat(calls.one(attempt(sale, 1, "key-0001", 1))).isInstanceOf(Admitted.class);
      eventually().until(() -> broker.seen() == 1);

      proxy.dropToServer(true);
      Admission unconfirmed = impatient.one(attempt(sale, 2, "key-0001", 1));
      Admission repeated = impatient.one(attempt(sale, 2, "key-0001", 1));
      assertThat(unconfirmed).isEqualTo(Unknown.BROKER);
      assertThat(repeated)
          .as("the broker still has no order of this key")
          .isEqualTo(Unknown.BROKER);
      assertThat(broker.seen()).isEqualTo(1);

      proxy.heal();
      eventually().until(() -> impatient.one(attempt(sale, 2, "key-0001", 1)) instanceof Repeated);
      assertThat(lanes.confirmed()).as("a repeat is promised after a confirm").isGreaterThan(1);
      eventually()
          .untilAsserted(() -> assertThat(broker.deliveries()).containsKey(orderOf(sale, 2)));
      eventually().until(() -> outbox.inPrivateQueues() == 0);
      assertThat(sale.counter("publishedOrders")).as("orders, not publishes").isEqualTo(2);
      assertThat(sale.counter("publishedUnits")).isEqualTo(2);
      assertThat(sale.stock()).isEqualTo(8);
    }
  }

  @Test
  void publishesAgainForARepeatOnceASecondAndOnlyUntilTheOrderIsSettled() {
    TestSale sale = TestSale.unlimited(redis, 10);
    try (TestDirectLanes lanes = startPatient()) {
      Calls calls = new Calls(redis, IN_BROKER_PATIENTLY, lanes.mailboxes());
      lanes.awaitOpen(sale.partition());
      Admitted first = (Admitted) calls.one(attempt(sale, 1, "key-0001", 2));
      String id = first.orderId().toString();
      String admitted = sale.record(1, id);

      List<Admission> repeats =
          calls.together(
              attempt(sale, 1, "key-0001", 2),
              attempt(sale, 1, "key-0001", 2),
              attempt(sale, 2, "key-0001", 1),
              attempt(sale, 2, "key-0001", 1));
      assertThat(repeats)
          .hasExactlyElementsOfTypes(
              Repeated.class, Repeated.class, Admitted.class, Repeated.class);
      int late = pushedAgain(admitted, sale.record(1, id));
      eventually().until(() -> broker.seen() == 2 && outbox.inPrivateQueues() == 0);
      int delivered = 1 + late;
      eventually().until(() -> broker.deliveries().get(id) >= delivered);
      assertThat(broker.deliveries().get(id))
          .as("its confirm answers the repeats")
          .isEqualTo(delivered);

      pushedLongAgo(sale, 1);
      Calls elsewhere = new Calls(redis, IN_BROKER_PATIENTLY, lanes.mailboxes());
      assertThat(
              elsewhere.together(attempt(sale, 1, "key-0001", 2), attempt(sale, 1, "key-0001", 2)))
          .hasOnlyElementsOfType(Repeated.class);
      assertThat(sale.record(1, id)).as("the time of the push is kept").matches(".*\\|Q\\|\\d{13}");
      Calls third = new Calls(redis, IN_BROKER, lanes.mailboxes());
      String pushed =
          sale.record(1, id).replaceFirst("\\|Q\\|.*", "|Q|" + System.currentTimeMillis());
      sale.writeRecord(1, id, pushed);
      Admission within = third.one(attempt(sale, 1, "key-0001", 2));
      if (pushedAgain(pushed, sale.record(1, id)) == 0) {
        assertThat(within)
            .as("within a second, where the order is not known")
            .isEqualTo(Unknown.BROKER);
      } else {
        late++;
      }
      int times = 2 + late;
      eventually().until(() -> outbox.inPrivateQueues() == 0);
      eventually().until(() -> broker.deliveries().get(id) == times);
      assertThat(broker.orders().stream().filter(order -> idOf(order).equals(id)))
          .extracting(order -> new String(order.getBody(), UTF_8))
          .as("the same message every time")
          .hasSize(times)
          .containsOnly(new String(broker.orders().get(0).getBody(), UTF_8));
      assertThat(sale.counter("publishedOrders")).isEqualTo(2);
      assertThat(sale.counter("publishedUnits")).isEqualTo(3);

      sale.writeRecord(1, id, sale.record(1, id).replaceFirst("\\|Q\\|.*", "|C|1"));
      assertThat(elsewhere.one(attempt(sale, 1, "key-0001", 2))).isInstanceOf(Repeated.class);
      assertThat(outbox.inPrivateQueues()).as("nothing is published for it").isZero();
      assertThat(broker.deliveries().get(id)).isEqualTo(times);
    }
  }

  @Test
  void countsEachOrderThatOneCallPublishesAgain() {
    TestSale sale = TestSale.unlimited(redis, 10);
    try (TestDirectLanes lanes = startPatient()) {
      Calls calls = new Calls(redis, IN_BROKER_PATIENTLY, lanes.mailboxes());
      lanes.awaitOpen(sale.partition());
      calls.together(attempt(sale, 1, "key-0001", 2), attempt(sale, 2, "key-0001", 1));
      eventually().until(() -> outbox.inPrivateQueues() == 0);
      pushedLongAgo(sale, 1);
      pushedLongAgo(sale, 2);

      assertThat(calls.together(attempt(sale, 1, "key-0001", 2), attempt(sale, 2, "key-0001", 1)))
          .hasOnlyElementsOfType(Repeated.class);

      eventually().until(() -> broker.orders().size() == 4 && outbox.inPrivateQueues() == 0);
      assertThat(sale.counter("publishedOrders")).isEqualTo(2);
      assertThat(sale.counter("publishedUnits")).isEqualTo(3);
    }
  }

  private void pushedLongAgo(TestSale sale, long user) {
    String id = orderOf(sale, user);
    sale.writeRecord(user, id, sale.record(user, id).replaceFirst("\\|Q\\|.*", "|Q|1"));
  }

  /** 1 if a call found, on a slow machine, that the push was a second ago; else 0. */
  private static int pushedAgain(String before, String after) {
    if (after.equals(before)) {
      return 0;
    }
    assertThat(pushedAt(after) - pushedAt(before)).isGreaterThanOrEqualTo(1_000);
    return 1;
  }

  /** The last push of a record, or its admission. */
  private static long pushedAt(String record) {
    String[] fields = record.split("\\|", -1);
    return Long.parseLong(fields[fields[6].isEmpty() ? 3 : 6]);
  }

  @Test
  void promisesNothingWhileNoLanePublishesAndTakesNothingTwice() {
    TestSale sale = TestSale.unlimited(redis, 10);
    List<LaneMailbox> closed =
        Stream.generate(() -> new LaneMailbox(WINDOW)).limit(Partition.COUNT).toList();
    Calls calls = new Calls(redis, IN_BROKER, closed);

    assertThat(calls.one(attempt(sale, 1, "key-0001", 1))).isEqualTo(Unknown.BROKER);
    pushedLongAgo(sale, 1);
    assertThat(calls.one(attempt(sale, 1, "key-0001", 1))).isEqualTo(Unknown.BROKER);
    assertThat(calls.one(attempt(sale, 1, "key-0002", 11))).isEqualTo(Refusal.TOO_FEW_LEFT);
    assertThat(sale.outbox()).as("relays publish it").hasSize(1);
  }

  private String orderOf(TestSale sale, long user) {
    String request = redis.hget(sale.bucket(user), user + ":key-0001");
    return request.substring(0, request.indexOf(':'));
  }

  private static String idOf(Delivery order) {
    return order.getProperties().getMessageId();
  }

  private TestDirectLanes startPatient() {
    return TestDirectLanes.startPatient(database.url(), rabbit.url(), WINDOW);
  }

  private static List<String> admitted(List<Admission> outcomes) {
    return outcomes.stream()
        .filter(Admitted.class::isInstance)
        .map(outcome -> ((Admitted) outcome).orderId().toString())
        .toList();
  }
}
