package io.seckill.consumer.intake;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.DatabaseWriteProbe;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoredBatch;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A consumer whose connections the tests break; another one, which takes no orders, observes. Where
 * an intake is enough, it uses the stores of one of two consumers: each start takes seconds.
 */
@ExtendWith(TestServers.class)
class IntakeFaultsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong();
  private static final String QUEUE = BrokerTopology.orderQueue(0);

  @AutoClose
  private static final TestConsumer observer =
      TestConsumer.start(
          Map.of(
              "seckill.intake.enabled", "false",
              "seckill.intake.max-attempts", "100",
              "pause.compensationSweeper", "1h"));

  @AutoClose private static final OrderFlood flood = new OrderFlood(observer.vhost());
  private static final StoredInvariants database = new StoredInvariants(observer.sql());
  private static final AdmissionFixture redis = new AdmissionFixture(observer.redis());

  private static TcpProxy toMySql;
  private static TcpProxy toRedis;
  private static TestConsumer stores;

  /** All SKUs are of partition 0, so that their orders are in one queue. */
  private final long sku = NEXT_SKU.addAndGet(16);

  @BeforeAll
  static void start() throws IOException {
    toMySql = TcpProxy.to(TestServers.mysql());
    toRedis = TcpProxy.to(TestServers.redis());
    stores =
        observer.another(
            behindProxies(
                Map.of(
                    "seckill.intake.enabled", "false",
                    "pause.compensationSweeper", "1h")));
  }

  @AfterAll
  static void stop() {
    stores.close();
    toMySql.close();
    toRedis.close();
  }

  @BeforeEach
  void open() {
    new Sales(observer).open(sku, "LIMITED", 5, 100_000);
  }

  @AfterEach
  void heal() {
    toMySql.heal();
    toRedis.heal();
  }

  /** Takes the orders of the queue, with the stores of a consumer that takes none itself. */
  private static final class Taking implements AutoCloseable {

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final QueueIntake intake;

    Taking(TestConsumer stores) {
      intake =
          new QueueIntake(
              QUEUE,
              stores.bean(BrokerConnections.class),
              stores.bean(DatabaseGate.class),
              stores.bean(Settler.class),
              new IntakeProperties(true, 500, 100),
              meters);
      intake.start();
    }

    double state() {
      return meters.get("seckill.consumer.intake.state").gauge().value();
    }

    @Override
    public void close() {
      intake.requestStop();
      intake.awaitStopped(SOON);
    }
  }

  @Test
  void pausesWhileMySqlIsAwayAndResumes() { // fault 28
    try (Taking taking = new Taking(stores)) {
      flood.publish(orders(1, 200));
      database.awaitOrders(sku, 200);
      awaitQuiet(); // the answer of their COMMIT is not cut off
      toMySql.cut();
      flood.publish(orders(201, 300));
      eventually()
          .untilAsserted(
              () -> {
                assertThat(observer.vhost().queueDepth(QUEUE).ready())
                    .as("orders back at the broker")
                    .isEqualTo(300);
                assertThat(observer.vhost().queueDepth(QUEUE).unacked()).isZero();
                assertThat(taking.state()).isEqualTo(3);
              });
      double before = stores.counter("seckill.consumer.deliveries");
      await("no try in a loop")
          .during(Duration.ofSeconds(2))
          .atMost(SOON)
          .failFast(() -> stores.counter("seckill.consumer.deliveries") - before >= 2 * 300)
          .until(() -> taking.state() == 3);

      toMySql.heal();

      database.awaitOrders(sku, 500);
      awaitQuiet();
    }
    database.check();
  }

  /** Alerts see the state; shoppers may pay while nobody buys. */
  @Test
  void pausesWhileMySqlIsAwayAndNoOrderArrives() {
    try (Taking taking = new Taking(stores)) {
      eventually().until(() -> taking.state() == 2);
      toMySql.cut();
      eventually().until(() -> taking.state() == 3);
      toMySql.heal();
      eventually().until(() -> taking.state() == 2);
    }
  }

  @Test
  void pausesAfterABatchThatMySqlRefuses() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    List<Long> tries = new CopyOnWriteArrayList<>(); // by System.nanoTime
    DatabaseGate gate =
        new DatabaseGate(observer.bean(OrderStore.class), null, Clock.systemUTC(), meters) {
          @Override
          boolean isOpenToOrders() {
            return true;
          }

          @Override
          StoredBatch store(List<OrderMessage> orders) throws DatabaseUnavailableException {
            tries.add(System.nanoTime());
            return super.store(orders);
          }
        };
    QueueIntake intake =
        new QueueIntake(
            QUEUE,
            observer.bean(BrokerConnections.class),
            gate,
            null,
            new IntakeProperties(true, 500, 5),
            meters);
    fillTheDisk();
    try (Connection broker = observer.vhost().connect()) {
      flood.publish(order(1, 1));
      intake.start();

      await("pauses of 0.5, 1 and 2 s")
          .during(Duration.ofMillis(300))
          .atMost(SOON)
          .failFast(() -> tries.size() > 10)
          .until(() -> meters.get("seckill.consumer.intake.state").gauge().value() == 3);
      eventually().until(() -> tries.size() > 2);
      assertThat(tries.get(2) - tries.get(1))
          .as("the second pause, ns")
          .isGreaterThan(Duration.ofMillis(900).toNanos());

      intake.requestStop();
      intake.awaitStopped(SOON);
      eventually().until(() -> broker.createChannel().queuePurge(QUEUE).getMessageCount() == 1);
    } finally {
      intake.requestStop();
      observer.asRoot("DROP TRIGGER disk");
    }
  }

  private void fillTheDisk() throws SQLException {
    observer.asRoot(
        "CREATE TRIGGER disk BEFORE INSERT ON orders FOR EACH ROW"
            + " IF NEW.sku_id = %d THEN".formatted(sku)
            + " SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'full'; END IF");
  }

  /** Its connection could become the queue's active consumer, with no thread behind it. */
  @Test
  void aSessionThatCannotBeginLeavesNoConnection() {
    BrokerConnections connections = observer.bean(BrokerConnections.class);
    long before = connectionsOfThisJvm();
    for (int times = 0; times < 3; times++) {
      assertThatThrownBy(() -> IntakeSession.open(connections, "no-such-queue", 1))
          .isInstanceOf(IOException.class);
    }
    eventually().until(() -> connectionsOfThisJvm() <= before + 1); // one of another purpose
  }

  /** The client has a thread for each. */
  private static long connectionsOfThisJvm() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("AMQP Connection"))
        .count();
  }

  /**
   * The breaker can open after two calls; the second of them may be the one that shows that MySQL
   * is available.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneFailureBeforeASuccessKeepsNothingClosed(boolean isProbe) throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    DatabaseGate gate =
        new DatabaseGate(
            observer.bean(OrderStore.class),
            observer.bean(DatabaseWriteProbe.class),
            Clock.systemUTC(),
            meters);
    fillTheDisk();
    try {
      assertThatThrownBy(() -> gate.store(orders(1, 1)))
          .isInstanceOf(DatabaseUnavailableException.class);
    } finally {
      observer.asRoot("DROP TRIGGER disk");
    }

    if (isProbe) {
      assertThat(gate.probe()).isTrue();
    } else {
      gate.store(orders(1, 1));
    }

    assertThat(meters.get("seckill.breaker.state").tag("state", "closed").gauge().value())
        .isEqualTo(1);
  }

  @Test
  void goesOnWithoutRedisAndGivesBackLater() { // fault 6
    try (Taking taking = new Taking(stores)) {
      eventually().until(() -> taking.state() == 2);
      List<OrderMessage> warm = orders(1, 10);
      redis.admit(warm);
      flood.publish(warm);
      database.awaitOrders(sku, 10);
      toRedis.cut();
      List<OrderMessage> tooMany = range(0, 20).mapToObj(i -> order(7_000, 1)).toList();
      redis.admit(tooMany);

      flood.publish(tooMany);
      flood.publish(orders(1_001, 3_000));

      database.awaitOrders(sku, 3_030);
      awaitQuiet();
      assertThat(redis.stock(sku)).isEqualTo(100_000 - 30);
      toRedis.heal();
      eventually()
          .untilAsserted(
              () -> {
                stores.sweep("compensationSweeper");
                assertThat(redis.stock(sku)).isEqualTo(100_000 - 15);
                assertThat( // Redis may have done it, and its answer come too late
                        database.number("SELECT COUNT(*) FROM compensation WHERE done_at IS NULL"))
                    .isZero();
              });
      assertThat(database.number("SELECT COUNT(*) FROM compensation WHERE sku_id = " + sku))
          .isEqualTo(15);
    }
    database.check();
  }

  /**
   * facts.md 22: an ack of all deliveries up to its tag would also settle the failed order before
   * it.
   */
  @Test
  void keepsAFailedOrderAtTheBrokerWhileThoseBehindItAreAcked() throws Exception { // fault 25
    List<OrderMessage> orders = orders(1, 30);
    observer.asRoot(
        "CREATE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW"
            + " IF NEW.user_id = 13 AND NEW.sku_id = %d THEN".formatted(sku)
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poisoned'; END IF");
    try (Taking failing = new Taking(observer)) {
      eventually().until(() -> failing.state() == 2);
      flood.publish(orders);
      database.awaitOrders(sku, 29);
      await("orders still at the broker: the one that fails")
          .atMost(SOON)
          .during(Duration.ofMillis(500)) // longer than the broker's counters lag
          .until(() -> observer.vhost().queueDepth(QUEUE).total() == 1);
    } finally {
      observer.asRoot("DROP TRIGGER poison");
    }
    double before = observer.counter("seckill.consumer.stored");
    try (Taking next = new Taking(observer)) {
      database.awaitOrders(sku, 30);
      awaitQuiet();
      assertThat(next.state()).isEqualTo(2);
    }
    assertThat(observer.counter("seckill.consumer.stored") - before).isEqualTo(1);
    database.check();
  }

  private static Map<String, String> behindProxies(Map<String, String> others) {
    Map<String, String> properties = new HashMap<>(others);
    properties.put("spring.datasource.url", observer.database().via(toMySql).jdbcUrl());
    properties.put("seckill.redis.url", observer.redisDatabase().via(toRedis).url());
    properties.put("seckill.redis.socket-timeout", "500ms");
    properties.put("spring.datasource.hikari.connection-timeout", "1000");
    return properties;
  }

  private List<OrderMessage> orders(long firstUser, int count) {
    return range(0, count).mapToObj(i -> order(firstUser + i, 1)).toList();
  }

  private OrderMessage order(long user, int quantity) {
    return OrderFlood.order(sku, LIMITED, user, quantity);
  }

  private void awaitQuiet() {
    observer.vhost().awaitEmpty(QUEUE);
  }
}
