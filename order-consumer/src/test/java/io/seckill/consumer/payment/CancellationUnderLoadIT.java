package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Eventually;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.TransientDataAccessException;

/**
 * facts.md 33: cancellations take locks in the order of the batch store, so both can run
 * concurrently.
 */
@ExtendWith(TestServers.class)
class CancellationUnderLoadIT {

  private static final long SKU = 6001;
  private static final int USERS = 40;
  private static final int ORDERS = 2_000;
  private static final long STOCK = 10_000;

  /** Orders that a shopper's call has paid or cancelled, as answered. */
  private final AtomicInteger ended = new AtomicInteger();

  private final Set<String> endedBy = ConcurrentHashMap.newKeySet();

  @Test
  void unitsAreConservedWhileOrdersAreStoredPaidCancelledAndExpired() {
    TestConsumer consumer = TestConsumer.shared();
    try (OrderFlood flood = new OrderFlood(consumer.vhost())) {
      new Sales(consumer).open(SKU, "LIMITED", 1_000, STOCK);
      List<OrderMessage> orders = new ArrayList<>();
      for (int i = 0; i < ORDERS; i++) {
        orders.add(OrderFlood.order(SKU, PurchasePolicy.LIMITED, 1L + i % USERS, 1 + i % 3));
      }
      new AdmissionFixture(consumer.redis()).admit(orders);

      Races.race(
          List.of(
              () -> flood.publish(orders),
              () -> expire(consumer),
              () -> expire(consumer),
              () -> payAndCancel(consumer)));

      assertConserved(consumer);
    }
  }

  /** Begins when a shopper has ended orders in both ways: fast ones would leave them none. */
  private void expire(TestConsumer consumer) {
    eventually().until(() -> endedBy.size() == 2);
    Cancellations cancellations = consumer.bean(Cancellations.class);
    long deadline = System.nanoTime() + Eventually.SOON.toNanos();
    while (isGoingOn(consumer) && System.nanoTime() < deadline) {
      try {
        cancellations.expire(waiting(consumer, "ASC", 50), Duration.ZERO);
      } catch (TransientDataAccessException e) { // of locks: the next round expires them
      }
    }
  }

  private static boolean isGoingOn(TestConsumer consumer) {
    return count(consumer, "TRUE") < ORDERS || count(consumer, "status = 'CONFIRMED'") > 0;
  }

  private void payAndCancel(TestConsumer consumer) {
    long deadline = System.nanoTime() + Eventually.SOON.toNanos();
    while (isGoingOn(consumer) && System.nanoTime() < deadline) {
      for (OrderId id : waiting(consumer, "DESC", 5)) {
        long user = consumer.number("SELECT user_id FROM orders WHERE order_id = ?", id.value());
        String action = id.value() % 2 == 0 ? "/payment" : "/cancel";
        int status =
            eventually()
                .until(
                    () ->
                        consumer
                            .api()
                            .post("/internal/v1/orders/" + id + action, "{\"userId\":" + user + "}")
                            .status(),
                    one -> one != 503);
        assertThat(status).isIn(200, 409);
        if (status == 200) {
          ended.incrementAndGet();
          endedBy.add(action);
        }
      }
    }
  }

  /** Time-outs take the oldest orders and shoppers the newest, so that neither gets all. */
  private static List<OrderId> waiting(TestConsumer consumer, String direction, int limit) {
    return consumer
        .sql()
        .sql(
            "SELECT order_id FROM orders WHERE status = 'CONFIRMED' AND sku_id = ?"
                + " ORDER BY order_id %s LIMIT ?".formatted(direction))
        .params(SKU, limit)
        .query(Long.class)
        .list()
        .stream()
        .map(OrderId::new)
        .toList();
  }

  private void assertConserved(TestConsumer consumer) {
    StoredOrderFixture stored = new StoredOrderFixture(consumer);
    assertThat(count(consumer, "TRUE")).isEqualTo(ORDERS);
    assertThat(count(consumer, "status = 'EXPIRED'")).isPositive();
    assertThat(count(consumer, "status = 'PAID'")).as("paid").isPositive();
    assertThat(count(consumer, "status = 'CANCELLED'")).as("cancelled").isPositive();
    assertThat(count(consumer, "status IN ('PAID', 'CANCELLED')")).isEqualTo(ended.get());
    String pending = "SELECT COUNT(*) FROM compensation WHERE done_at IS NULL AND sku_id = ?";
    eventually().until(() -> consumer.number(pending, SKU) == 0);
    long held = units(consumer, "TRUE");
    assertThat(stored.stockInMySql(SKU)).isEqualTo(STOCK - held);
    assertThat(stored.stockInRedis(SKU)).isEqualTo(STOCK - held);
    for (long user = 1; user <= USERS; user++) {
      long owned = units(consumer, "user_id = " + user);
      assertThat(stored.quotaInMySql(SKU, user)).isEqualTo(owned);
      assertThat(stored.quotaInRedis(SKU, user)).isEqualTo(owned);
    }
  }

  private static long count(TestConsumer consumer, String condition) {
    return number(consumer, "COUNT(*)", condition);
  }

  /** Units held by orders that are CONFIRMED or PAID. */
  private static long units(TestConsumer consumer, String condition) {
    return number(
        consumer, "COALESCE(SUM(quantity), 0)", "status IN ('CONFIRMED', 'PAID') AND " + condition);
  }

  private static long number(TestConsumer consumer, String what, String condition) {
    return consumer.number(
        "SELECT " + what + " FROM orders WHERE sku_id = ? AND " + condition, SKU);
  }
}
