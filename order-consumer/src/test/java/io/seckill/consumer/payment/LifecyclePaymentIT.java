package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.TransientDataAccessException;

/** An order is paid once, by whom it belongs to. */
@ExtendWith(TestServers.class)
class LifecyclePaymentIT extends OrderLifecycle {

  @Test
  void aPaymentIsChargedOnceHoweverOftenItIsAskedFor() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 2);

    Answer paid = pay(id, 7);
    Answer again = pay(id, 7);

    assertThat(paid.status()).isEqualTo(200);
    assertThat(paid.text("status")).isEqualTo("PAID");
    assertThat(paid.text("orderId")).isEqualTo(id.toString());
    assertThat(paid.number("unitPriceCents")).isEqualTo(9_900);
    assertThat(again.body()).isEqualTo(paid.body());
    assertThat(charge(id)).isEqualTo("CHARGED 19800");
    assertThat(payment(id)).isEqualTo("CHARGED");
    eventually().until(() -> orders.letter(sku, id).equals("P"));
    assertThat(orders.stockInMySql(sku)).isEqualTo(8);
  }

  @Test
  void anOrderOfSomebodyElseDoesNotExist() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 1);

    for (Answer answer : List.of(pay(id, 8), cancel(id, 8), pay(new OrderId(4711), 7))) {
      assertThat(answer.status()).isEqualTo(404);
      assertThat(answer.code()).isEqualTo("UNKNOWN_ORDER");
    }
    assertThat(orders.status(id)).isEqualTo("CONFIRMED");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"userId\":0}",
        "{\"userId\":-1}",
        "{\"userId\":\"7\"}",
        "{\"userId\":7.0}",
        "{\"userId\":9223372036854775808}",
        "{\"userId\":null}"
      })
  void whoAsksMustBeSaid(String body) {
    assertThat(api.post("/internal/v1/orders/1/payment", body).field()).isEqualTo("userId");
    assertThat(api.post("/internal/v1/orders/1/cancel", body).field()).isEqualTo("userId");
  }

  @Test
  void aDeclinedPaymentMayBeTriedAgainAndTheOrderStays() {
    open("LIMITED", 100, 1000);
    OrderId id = orders.confirmed(sku, 7, 60);

    Answer declined = pay(id, 7);

    assertThat(declined.status()).isEqualTo(409);
    assertThat(declined.code()).isEqualTo("PAYMENT_DECLINED");
    assertThat(orders.status(id)).isEqualTo("CONFIRMED");
    assertThat(pay(id, 7).code()).isEqualTo("PAYMENT_DECLINED");
  }

  /** Repeats what timed out waiting for another's locks, as the sweeper does. */
  private static int untilThrough(Callable<Integer> expiry) {
    return eventually()
        .ignoreExceptionsInstanceOf(TransientDataAccessException.class)
        .until(expiry, any -> true);
  }

  @Test
  void ofPaymentCancelAndExpiryExactlyOneWins() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    open("LIMITED", 100, 10_000);
    int pairs = 60;
    List<OrderId> all = new ArrayList<>();
    for (int i = 0; i < pairs; i++) {
      OrderId id = orders.confirmed(sku, 1 + i % 10, 1 + i % 3);
      orders.age(id, TIMEOUT_SECONDS);
      all.add(id);
    }
    Cancellations cancellations = consumer.bean(Cancellations.class);
    Duration timeout = Duration.ofSeconds(TIMEOUT_SECONDS);
    Map<OrderId, List<String>> winners = new HashMap<>();
    for (int i = 0; i < pairs; i++) {
      OrderId id = all.get(i);
      long user = 1L + i % 10;
      List<String> won = Collections.synchronizedList(new ArrayList<>());
      List<Runnable> racers =
          new ArrayList<>(
              List.of(
                  () -> noteSuccess(won, "PAID", () -> pay(id, user)),
                  () -> noteSuccess(won, "CANCELLED", () -> cancel(id, user)),
                  () -> {
                    if (untilThrough(() -> cancellations.expire(List.of(id), timeout)) == 1) {
                      won.add("EXPIRED");
                    }
                  }));
      Collections.shuffle(racers, random);
      Races.race(racers);
      winners.put(id, won);
    }

    long sold = 0;
    Map<Long, Long> owned = new HashMap<>();
    for (int i = 0; i < pairs; i++) {
      OrderId id = all.get(i);
      String status = orders.status(id);
      assertThat(winners.get(id)).as("seed %s, order %s", seed, id).containsExactly(status);
      assertThat(charge(id).startsWith("CHARGED")).isEqualTo(status.equals("PAID"));
      if (status.equals("PAID")) {
        sold += 1L + i % 3;
        owned.merge(1L + i % 10, 1L + i % 3, Long::sum);
      }
    }
    awaitCompensations();
    assertThat(orders.stockInMySql(sku)).isEqualTo(10_000 - sold);
    assertThat(orders.stockInRedis(sku)).isEqualTo(10_000 - sold);
    for (long user = 1; user <= 10; user++) {
      assertThat(orders.quotaInMySql(sku, user)).isEqualTo(owned.getOrDefault(user, 0L));
      assertThat(orders.quotaInRedis(sku, user)).isEqualTo(owned.getOrDefault(user, 0L));
    }
    assertThat(refundsDue()).isZero();
  }

  /**
   * facts.md 32: error 1205 rolls back one statement only; without a full rollback the order would
   * be ended and its units still taken.
   */
  @Test
  void aLockWaitLeavesNothingHalfDone() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 2);
    try (RowLock held = consumer.lockProduct(sku)) {
      Answer unavailable = cancel(id, 7);

      assertThat(unavailable.status()).isEqualTo(503);
      assertThat(unavailable.code()).isEqualTo("UNAVAILABLE");
      assertThat(orders.status(id)).isEqualTo("CONFIRMED");
      assertThat(orders.quotaInMySql(sku, 7)).isEqualTo(2);
      held.release();
    }

    assertThat(cancel(id, 7).status()).isEqualTo(200);
    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
  }

  /** As many as the pool has connections, and more, wait for the lock. */
  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"cancel", "payment"})
  void callsThatWaitForALockLeaveConnectionsToOperators(String kind) {
    open("LIMITED", 1, 100);
    List<OrderId> waiting =
        LongStream.rangeClosed(1, 20).mapToObj(user -> orders.confirmed(sku, user, 1)).toList();
    HikariDataSource pool = consumer.bean(HikariDataSource.class);
    long patience = pool.getConnectionTimeout();
    pool.setConnectionTimeout(2_000); // shorter than the wait for the lock
    ExecutorService shoppers = Executors.newFixedThreadPool(waiting.size());
    String ordersOfSku = "SELECT * FROM orders WHERE sku_id = " + sku + " FOR UPDATE";
    try (RowLock held =
        kind.equals("cancel") ? consumer.lockProduct(sku) : consumer.lock(ordersOfSku)) {
      for (int i = 0; i < waiting.size(); i++) {
        OrderId id = waiting.get(i);
        long user = 1L + i;
        var unused =
            shoppers.submit(() -> kind.equals("cancel") ? cancel(id, user) : api.pay(id, user));
      }
      eventually()
          .pollInterval(Duration.ofMillis(10))
          .until(
              () ->
                  pool.getHikariPoolMXBean().getActiveConnections()
                      >= pool.getMaximumPoolSize() / 2);

      for (int call = 0; call < 20; call++) {
        assertThat(api.get("/internal/v1/dead-letters").status())
            .as("call %s", call)
            .isEqualTo(200);
      }
      held.release();
    } finally {
      shoppers.shutdownNow();
      pool.setConnectionTimeout(patience);
    }
  }

  @Test
  void aCrashAfterTheChargeEndsAsPaidWhenTheOrderStillWaits() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 1);
    crashedAfterCharge(id);

    consumer.bean(PaymentSweep.class).sweep();

    assertThat(orders.status(id)).isEqualTo("PAID");
    assertThat(payment(id)).isEqualTo("CHARGED");
  }

  @Test
  void aCrashAfterTheChargeEndsAsARefundWhenTheOrderHasExpired() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 1);
    crashedAfterCharge(id);
    orders.age(id, TIMEOUT_SECONDS);
    ExpirySweep.by(consumer);
    double refunds = consumer.counter("seckill.consumer.refunds");

    consumer.bean(PaymentSweep.class).sweep();

    assertThat(orders.status(id)).isEqualTo("EXPIRED");
    assertThat(consumer.counter("seckill.consumer.refunds")).isEqualTo(refunds + 1);
    assertThat(payment(id)).isEqualTo("REFUNDED");
    assertThat(charge(id)).startsWith("REFUNDED");
    consumer.bean(PaymentSweep.class).sweep();
    assertThat(payment(id)).isEqualTo("REFUNDED");
  }

  @Test
  void aCrashBeforeTheChargeNeverChargesAnOrderThatHasEnded() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 1);
    consumer.bean(PaymentTable.class).start(Map.of(id, 9_900L));
    agePayment(id);
    cancel(id, 7);
    double refunds = consumer.counter("seckill.consumer.refunds");

    consumer.bean(PaymentSweep.class).sweep();

    assertThat(payment(id)).isEqualTo("REFUNDED");
    assertThat(consumer.counter("seckill.consumer.refunds"))
        .as("nothing was charged")
        .isEqualTo(refunds);
    assertThat(consumer.bean(PaymentProvider.class).charge(id, 9_900))
        .isEqualTo(new PaymentProvider.Charge.Declined());
  }

  @Test
  void aCallbackThatIsNotTheProvidersIsRefused() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 1);
    String body = event("evt-" + id, id, 9_900);
    String old = Long.toString(Instant.now().getEpochSecond() - 301);
    String signature = SignedCallback.now(SECRET, body).signature();
    InternalApi unsigned = api.with("Authorization", "");
    double before = consumer.counter("seckill.consumer.payment.callbacks.refused");

    assertThat(SignedCallback.at(old, SECRET, body).postTo(api).status()).isEqualTo(401);
    for (InternalApi caller :
        List.of(
            unsigned,
            unsigned.with("X-Payment-Timestamp", now()),
            unsigned.with("X-Payment-Signature", signature),
            unsigned.with("X-Payment-Timestamp", "x").with("X-Payment-Signature", signature),
            unsigned
                .with("X-Payment-Timestamp", Long.toString(Instant.now().getEpochSecond() + 5))
                .with("X-Payment-Signature", signature),
            unsigned
                .with("X-Payment-Timestamp", now())
                .with("X-Payment-Signature", "0".repeat(64)))) {
      Answer refused = caller.post("/internal/v1/payments/callback", body);
      assertThat(refused.status()).isEqualTo(401);
      assertThat(refused.code()).isEqualTo("BAD_SIGNATURE");
    }
    double counted = consumer.counter("seckill.consumer.payment.callbacks.refused");
    assertThat(counted).as("counted, for the alert").isEqualTo(before + 7);
    String tooLong = "{\"note\":\"" + "x".repeat(262_144) + "\"}";
    assertThat(SignedCallback.now(SECRET, tooLong).postTo(api).code())
        .isEqualTo("PAYLOAD_TOO_LARGE");
    assertThat(consumer.counter("seckill.consumer.payment.callbacks.refused"))
        .as("counted, for the alert")
        .isEqualTo(counted + 1);
    assertThat(SignedCallback.now(SECRET, "{\"eventId\":\"a\"}").postTo(api).field())
        .isEqualTo("type");
    assertThat(orders.status(id)).isEqualTo("CONFIRMED");
  }

  /** Repeats a request that waited too long for a lock. */
  private static void noteSuccess(List<String> won, String status, Callable<Answer> request) {
    Answer answer = eventually().until(request, one -> one.status() != 503);
    assertThat(answer.status()).as(answer.text()).isIn(200, 409);
    if (answer.status() == 200) {
      won.add(status);
    }
  }

  private static void crashedAfterCharge(OrderId id) {
    consumer.bean(PaymentTable.class).start(Map.of(id, 9_900L));
    consumer.bean(PaymentProvider.class).charge(id, 9_900);
    agePayment(id);
  }

  private static void agePayment(OrderId id) {
    consumer.update("UPDATE payment SET check_at = NOW(6) WHERE order_id = ?", id.value());
  }

  private static String now() {
    return Long.toString(Instant.now().getEpochSecond());
  }

  private static String event(String eventId, OrderId id, long amount) {
    return """
    {"eventId":"%s","type":"CHARGED","orderId":"%s","chargeId":"ch-%s","amountCents":%d}\
    """
        .formatted(eventId, id, id, amount);
  }

  private static long refundsDue() {
    return consumer.number("SELECT COUNT(*) FROM payment WHERE state IN ('REFUND_DUE', 'STARTED')");
  }
}
