package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.transaction.support.TransactionOperations;

/** Orders that nobody pays expire. */
@ExtendWith(TestServers.class)
class LifecycleExpiryIT extends OrderLifecycle {

  @Test
  void theSweepExpiresWhatIsDueAndNothingElse() {
    open("LIMITED", 2, 10);
    OrderId due = orders.confirmed(sku, 7, 2);
    OrderId young = orders.confirmed(sku, 8, 2);
    OrderId paid = orders.confirmed(sku, 9, 2);
    orders.age(due, TIMEOUT_SECONDS);
    orders.age(young, TIMEOUT_SECONDS - 60);
    orders.age(paid, TIMEOUT_SECONDS);
    pay(paid, 9);

    tenRounds();

    assertThat(orders.status(due)).isEqualTo("EXPIRED");
    eventually().until(() -> orders.letter(sku, due).equals("E"));
    assertThat(orders.status(young)).isEqualTo("CONFIRMED");
    assertThat(orders.status(paid)).isEqualTo("PAID");
    assertThat(orders.stockInMySql(sku)).isEqualTo(6);
    awaitCompensations();
    assertThat(orders.stockInRedis(sku)).isEqualTo(6);
    assertThat(orders.quotaInMySql(sku, 7)).isZero();
    assertThat(orders.quotaInRedis(sku, 7)).isZero();

    OrderId late = orders.confirmed(sku, 10, 2); // committed after younger ones had expired
    orders.age(late, 2 * TIMEOUT_SECONDS);
    tenRounds();

    assertThat(orders.status(late)).isEqualTo("EXPIRED");
  }

  /** One of them begins at the oldest order. */
  private static void tenRounds() {
    for (int round = 0; round < 10; round++) {
      consumer.sweep("expirySweeper");
    }
  }

  @Test
  void aSweepRestsWhileOrdersAreStored() {
    open("LIMITED", 100, 100);
    Timer rests =
        consumer.bean(MeterRegistry.class).get("seckill.consumer.background.rests").timer();
    long before = rests.count();

    eventually() // what was read of storing is up to a second old
        .untilAsserted(
            () -> {
              orders.confirmed(sku, 7, 1);
              ExpirySweep.by(consumer);
              assertThat(rests.count()).isGreaterThan(before);
            });
  }

  @Test
  void anOrderThatCannotExpireKeepsNoOtherFromIt() {
    open("LIMITED", 1_000, 1_000);
    OrderId withoutQuota = due(8, 1, TIMEOUT_SECONDS + 60).get(0);
    List<OrderId> good = due(7, 3, TIMEOUT_SECONDS + 30);
    consumer.update("DELETE FROM user_quota WHERE sku_id = ? AND user_id = 8", sku);

    ExpirySweep.by(consumer);

    assertThat(good).extracting(orders::status).containsOnly("EXPIRED");
    assertThat(orders.status(withoutQuota)).isEqualTo("CONFIRMED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(999);
    pay(withoutQuota, 8); // otherwise every later sweep finds it
  }

  /** A full batch of the sweep. */
  @Test
  void aBatchOfOrdersThatAreLockedKeepsNoOtherFromIt() throws Exception {
    open("LIMITED", 1_000, 1_000);
    OrderId good = due(7, 1, TIMEOUT_SECONDS).get(0);
    long locked = OrderId.of(System.currentTimeMillis() + 86_400_000, 0, 255, 0).value();
    consumer.update(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at, created_at) WITH RECURSIVE n AS (SELECT 0 AS i"
            + " UNION ALL SELECT i + 1 FROM n WHERE i < 199) SELECT ? + i, 8, ?, 1, 9900,"
            + " CONCAT('locked-', i), 'CONFIRMED', 1, 1, NOW(3), NOW(6) - INTERVAL 1 DAY FROM n",
        locked,
        sku);
    String range = " FROM orders WHERE order_id >= " + locked; // no row after these is locked, too

    try (RowLock lock = consumer.lock("SELECT *" + range + " FOR UPDATE")) {
      assertTimeoutPreemptively(Duration.ofSeconds(30), () -> ExpirySweep.by(consumer));
      lock.release();
    }

    assertThat(orders.status(good)).isEqualTo("EXPIRED");
    assertThat(consumer.update("DELETE" + range)).isEqualTo(200);
  }

  /**
   * The number of statements between the lock on the product's row and COMMIT does not grow with
   * the batch.
   */
  @Test
  void aBatchOfExpiredOrdersNeedsOneInsertForCompensationsAndOneForTotals() {
    open("LIMITED", 1_000, 1_000);
    List<OrderId> due = due(7, 200, TIMEOUT_SECONDS);
    Cancellations cancellations = consumer.bean(Cancellations.class);

    long inserts =
        consumer
            .bean(TransactionOperations.class)
            .execute(
                tx -> {
                  long before = insertsOfThisConnection();
                  cancellations.expire(due, Duration.ofSeconds(TIMEOUT_SECONDS));
                  return insertsOfThisConnection() - before;
                });

    assertThat(inserts).isEqualTo(2);
    assertThat(due).extracting(orders::status).containsOnly("EXPIRED");
    awaitCompensations();
    assertThat(orders.stockInRedis(sku)).isEqualTo(1_000);
  }

  private static long insertsOfThisConnection() {
    return consumer
        .sql()
        .sql("SHOW SESSION STATUS LIKE 'Com_insert'")
        .query((row, number) -> row.getLong("Value"))
        .single();
  }

  private List<OrderId> due(long user, int count, long ageSeconds) {
    List<OrderId> due = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      OrderId id = orders.confirmed(sku, user, 1);
      orders.age(id, ageSeconds);
      due.add(id);
    }
    return due;
  }
}
