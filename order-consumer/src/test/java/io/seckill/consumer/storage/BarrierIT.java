package io.seckill.consumer.storage;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.LongStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** When a barrier has passed, every message published before it is stored in MySQL. */
@ExtendWith(TestServers.class)
class BarrierIT {

  private static final long SKU = 41;
  private static final int PARTITION = Partition.ofSku(SKU);
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final Duration SHORT = Duration.ofSeconds(1);

  private TestConsumer consumer;
  private OrderFlood flood;
  private StoredInvariants ledger;

  @BeforeEach
  void open() {
    consumer =
        TestConsumer.start(
            Map.of(
                "seckill.intake.max-attempts", "100",
                "pause.deadLetterDrainer", "50ms"));
    flood = new OrderFlood(consumer.vhost());
    ledger = new StoredInvariants(consumer.sql());
    new Sales(consumer).open(SKU, "LIMITED", 5, 10_000);
  }

  @AfterEach
  void close() {
    flood.close();
    consumer.close();
  }

  @Test
  void passesWhenEverythingPublishedBeforeIsStored() {
    flood.publish(orders(5_000));

    assertThat(barriers().pass(PARTITION, LONG)).isTrue();

    assertThat(ledger.number("SELECT COUNT(*) FROM orders")).isEqualTo(5_000);
  }

  @Test
  void passesWhenEveryDeadLetterBeforeItIsARow() {
    List<OrderMessage> unfit =
        rangeClosed(1, 250).mapToObj(user -> OrderFlood.order(SKU, UNLIMITED, user, 1)).toList();
    flood.publish(unfit);

    assertThat(barriers().pass(PARTITION, LONG)).isTrue();

    assertThat(ledger.number("SELECT COUNT(*) FROM dead_letter")).isEqualTo(250);
  }

  @Test
  void waitsForAnOrderThatIsTriedAgainAndAgain() throws Exception {
    asRoot(
        "CREATE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW IF NEW.user_id = 13 THEN"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poisoned'; END IF");
    flood.publish(orders(30));

    assertThat(barriers().pass(PARTITION, SHORT)).isFalse();
    eventually().until(() -> ledger.number("SELECT COUNT(*) FROM orders") == 29);

    asRoot("DROP TRIGGER poison");
    assertThat(barriers().pass(PARTITION, LONG)).isTrue();
    assertThat(ledger.number("SELECT COUNT(*) FROM orders")).isEqualTo(30);
  }

  @Test
  void outlivesTheProcessThatRaisedItAndTheOneThatHadItInHand() {
    consumer.close();
    try (TestConsumer idle = consumer.another(Map.of("seckill.intake.enabled", "false"))) {
      flood.publish(orders(100));
      assertThat(idle.bean(Barriers.class).pass(PARTITION, SHORT)).isFalse();
    }

    try (TestConsumer next = consumer.another(Map.of("pause.deadLetterDrainer", "50ms"))) {
      StoredInvariants seen = new StoredInvariants(next.sql());
      eventually()
          .until(
              () -> seen.number("SELECT COUNT(*) FROM barrier WHERE passed_at IS NOT NULL") == 1);
      assertThat(seen.number("SELECT COUNT(*) FROM orders")).isEqualTo(100);
    }
  }

  private Barriers barriers() {
    return consumer.bean(Barriers.class);
  }

  private static List<OrderMessage> orders(int count) {
    return rangeClosed(1, count).mapToObj(user -> OrderFlood.order(SKU, LIMITED, user, 1)).toList();
  }

  private void asRoot(String sql) throws Exception {
    try (Connection root = TestServers.mysql().rootConnection();
        Statement statement = root.createStatement()) {
      statement.execute("USE " + consumer.database().name());
      statement.execute(sql);
    }
  }
}
