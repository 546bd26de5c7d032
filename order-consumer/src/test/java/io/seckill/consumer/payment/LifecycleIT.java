package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class LifecycleIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(5001);
  private static final String SECRET = "secret-of-the-provider-0123456789abcdef";
  private static final long TIMEOUT_SECONDS = 1_800;
  private static final String STATUS = "SELECT status FROM orders WHERE order_id = ?";

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.payment.callback-secret", SECRET,
              "seckill.payment.simulated-decline-from-cents", "500000",
              // The tests call the sweep themselves.
              "pause.expirySweeper", "1h",
              "pause.paymentSweeper", "1h",
              "pause.paidResultsSweeper", "100ms",
              "pause.compensationSweeper", "100ms"));

  private static final InternalApi api = consumer.api();
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  private final long sku = NEXT_SKU.getAndIncrement();

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
  void onlyOrdersThatRedisKnowsAreCompensatedThere() {
    open("LIMITED", 2, 10);
    OrderId known = orders.confirmed(sku, 7, 2);
    long strongSku = NEXT_SKU.getAndIncrement();
    new Sales(consumer).openStrong(strongSku, "LIMITED", 2, 10);
    OrderId strong = orders.strong(strongSku, 7, 2);
    orders.age(known, TIMEOUT_SECONDS + 1);
    orders.age(strong, TIMEOUT_SECONDS + 1);

    consumer.bean(Expiry.class).expire(List.of(known, strong));

    assertThat(List.of(orders.status(known), orders.status(strong)))
        .containsExactly("EXPIRED", "EXPIRED");
    assertThat(List.of(orders.stockInMySql(sku), orders.stockInMySql(strongSku)))
        .containsExactly(10L, 10L);
    awaitCompensations();
    assertThat(orders.stockInRedis(sku)).isEqualTo(10);
    assertThat(compensations(sku)).isEqualTo(1);
    assertThat(compensations(strongSku)).isZero();
    assertThat(consumer.redis().keys("*:" + strongSku + "*")).isEmpty();
  }

  /** Their buyers may have promised orders that are not in MySQL yet. */
  @ParameterizedTest
  @CsvSource({"true, 5, 6", "true, 0, 0", "false, 5, 5"})
  void returnedUnitsAreReservedWhereAllAre(boolean all, long before, long after) {
    open("LIMITED", 2, 10);
    OrderId id = orders.strong(sku, 7, 1);
    consumer.update(
        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', reserves_all = ?,"
            + " reserved_units = ? WHERE sku_id = ?",
        all,
        before,
        sku);

    assertThat(cancel(id, 7).status()).isEqualTo(200);

    assertThat(orders.product(sku, "reserved_units")).isEqualTo(Long.toString(after));
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

  @ParameterizedTest
  @CsvSource({"ONE_PER_USER, 1, 1", "LIMITED, 5, 3", "UNLIMITED, 0, 3"})
  void aCancelReturnsStockAndQuotaInBothStoresOnce(String policy, int limit, int quantity) {
    open(policy, limit, 10);
    OrderId id = orders.confirmed(sku, 7, quantity);
    assertThat(orders.stockInRedis(sku)).isEqualTo(10 - quantity);
    double ended = consumer.counter("seckill.consumer.orders.ended", "status", "CANCELLED");
    double compensated = consumer.counter("seckill.consumer.compensations.done");

    Answer cancelled = cancel(id, 7);
    Answer again = cancel(id, 7);

    assertThat(cancelled.text("status")).isEqualTo("CANCELLED");
    assertThat(again.body()).isEqualTo(cancelled.body());
    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    awaitCompensations();
    assertThat(orders.stockInRedis(sku)).isEqualTo(10);
    assertThat(orders.quotaInMySql(sku, 7)).isZero();
    assertThat(orders.quotaInRedis(sku, 7)).isZero();
    assertThat(orders.letter(sku, id)).isEqualTo("X");
    assertThat(pay(id, 7).code()).isEqualTo("NOT_PAYABLE");
    assertThat(pay(id, 7).text("orderStatus")).isEqualTo("CANCELLED");
    assertThat(charge(id)).as("not even to be refunded").isEqualTo("NONE");
    Orders table = consumer.bean(Orders.class);
    assertThatThrownBy(() -> table.markPaid(List.of(id), table.lock(List.of(id), true)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(orders.status(id)).as("never paid afterwards").isEqualTo("CANCELLED");
    assertThat(consumer.counter("seckill.consumer.orders.ended", "status", "CANCELLED"))
        .isEqualTo(ended + 1);
    assertThat(consumer.counter("seckill.consumer.compensations.done"))
        .isGreaterThanOrEqualTo(compensated + 1);
  }

  @Test
  void aPaidOrderIsNotCancellable() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 1);
    pay(id, 7);

    Answer refused = cancel(id, 7);

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("NOT_CANCELLABLE");
    assertThat(refused.text("orderStatus")).isEqualTo("PAID");
  }

  /**
   * The whole path of a unit: stored from the queue through the guards, returned, and sold again.
   */
  @Test
  void aUnitThatCameBackIsStoredForTheNextShopperFromTheQueue() {
    open("LIMITED", 1, 1);
    OrderMessage first = OrderFlood.order(sku, PurchasePolicy.LIMITED, 7, 1);
    OrderMessage tooLate = OrderFlood.order(sku, PurchasePolicy.LIMITED, 8, 1);
    OrderMessage second = OrderFlood.order(sku, PurchasePolicy.LIMITED, 9, 1);
    try (OrderFlood flood = new OrderFlood(consumer.vhost())) {
      flood.publish(first, tooLate);
      awaitStatus(first, "CONFIRMED");
      awaitStatus(tooLate, "REJECTED");
      cancel(first.orderId(), 7);

      flood.publish(second);

      awaitStatus(second, "CONFIRMED");
    }
    assertThat(pay(second.orderId(), 9).status()).isEqualTo(200);
    assertThat(orders.stockInMySql(sku)).isZero();
  }

  private static void awaitStatus(OrderMessage order, String status) {
    eventually().until(() -> consumer.textOr("", STATUS, order.orderId().value()), status::equals);
  }

  @Test
  void unitsOfAnOlderEpochGoBackToTheSaleThatRunsNow() {
    open("LIMITED", 2, 10);
    OrderId id = orders.confirmed(sku, 7, 2);
    consumer.update("UPDATE products SET epoch = 2 WHERE sku_id = ?", sku);
    consumer.redis().hset(RedisKeys.sku(sku), "epoch", "2");

    cancel(id, 7);

    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    awaitCompensations();
    assertThat(orders.stockInRedis(sku)).isEqualTo(10);
  }

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

  /** Repeats what timed out waiting for another's locks, as the sweeper does. */
  private static int untilThrough(Callable<Integer> expiry) {
    return eventually()
        .ignoreExceptionsInstanceOf(TransientDataAccessException.class)
        .until(expiry, any -> true);
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
  void redisHearsOfAPaymentAlthoughTheFirstWordWasLost() {
    open("LIMITED", 5, 100);
    OrderId id = orders.confirmed(sku, 1, 1);
    assertThat(api.pay(id, 1).status()).isEqualTo(200);
    forgetResult(id, 1);
    // The sweep may have written it already.
    consumer.update("UPDATE payment SET updated_at = NOW(6) WHERE order_id = ?", id.value());

    eventually().until(() -> orders.letter(sku, id).equals("P"));
  }

  private void phase(String fallback) {
    consumer.update("UPDATE products SET fallback = ? WHERE sku_id = ?", fallback, sku);
  }

  /** The process that has paid remembers it, others read it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void redisGetsAPaymentOfARoundThatFailed(boolean isRemembered) {
    open("LIMITED", 5, 100);
    OrderId id = orders.confirmed(sku, 1, 1);
    payBefore(id);
    List<OrderId> tried = new ArrayList<>();
    PaidResults paid = new PaidResults(consumer.sql(), results(tried, false));
    remember(paid, id, isRemembered);

    paid.sweep();
    assertThat(tried).contains(id);
    tried.clear();
    paid.sweep();

    assertThat(tried).contains(id);
  }

  private void remember(PaidResults paid, OrderId id, boolean isRemembered) {
    if (isRemembered) {
      paid.remember(OrderResult.of(id, sku, 1, OrderStatus.PAID));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void redisGetsAPaymentOfASaleThatWasBeingLoaded(boolean isRemembered) {
    open("LIMITED", 5, 100);
    OrderId id = orders.confirmed(sku, 1, 1);
    payBefore(id);
    long otherSku = NEXT_SKU.getAndIncrement();
    new Sales(consumer).open(otherSku, "LIMITED", 5, 100);
    OrderId other = orders.confirmed(otherSku, 1, 1);
    payBefore(other);
    List<OrderId> written = new ArrayList<>();
    PaidResults paid = new PaidResults(consumer.sql(), results(written, true));
    remember(paid, id, isRemembered);
    phase("LOADING");

    paid.sweep();
    assertThat(written).contains(other).doesNotContain(id);
    phase("NO");
    paid.sweep();

    assertThat(written).contains(id);
  }

  /** A standby that is promoted may have a clock behind that of the former primary. */
  @Test
  void redisGetsPaymentsAfterTheClockOfMySqlWasSetBack() throws SQLException {
    open("LIMITED", 5, 100);
    OrderId before = orders.confirmed(sku, 1, 1);
    OrderId after = orders.confirmed(sku, 1, 1);
    payBefore(before);
    List<OrderId> written = new ArrayList<>();
    try (Connection connection = consumer.database().connect()) {
      JdbcClient session = JdbcClient.create(new SingleConnectionDataSource(connection, true));
      session.sql("SET time_zone = '+00:00'").update();
      PaidResults paid = new PaidResults(session, results(written, true));
      paid.sweep();
      assertThat(written).contains(before);
      payBefore(after);
      consumer.update(
          "UPDATE payment SET updated_at = updated_at - INTERVAL 30 SECOND WHERE order_id = ?",
          after.value());
      session.sql("SET timestamp = UNIX_TIMESTAMP() - 30").update();

      paid.sweep();
    }

    assertThat(written).contains(after);
  }

  /** Another payment with an earlier time may commit until then; it would be passed over. */
  @Test
  void redisGetsAPaymentOfTheLastSecondsLater() {
    open("LIMITED", 5, 100);
    OrderId id = orders.confirmed(sku, 1, 1);
    assertThat(api.pay(id, 1).status()).isEqualTo(200);
    consumer.update("UPDATE payment SET updated_at = NOW(6) WHERE order_id = ?", id.value());
    List<OrderId> written = new ArrayList<>();

    new PaidResults(consumer.sql(), results(written, true)).sweep();

    String age = "SELECT TIMESTAMPDIFF(SECOND, updated_at, NOW(6)) FROM payment WHERE order_id = ?";
    assertThat(written.contains(id) && consumer.number(age, id.value()) < 2).isFalse();
  }

  /** So long ago that the sweep has its result to write. */
  private static void payBefore(OrderId id) {
    assertThat(api.pay(id, 1).status()).isEqualTo(200);
    consumer.update(
        "UPDATE payment SET updated_at = updated_at - INTERVAL 10 SECOND WHERE order_id = ?",
        id.value());
  }

  private static OrderResults results(List<OrderId> tried, boolean areWritten) {
    return new OrderResults(
        consumer.bean(UnifiedJedis.class),
        consumer.bean(RedisCallGuard.class),
        new SimpleMeterRegistry()) {
      @Override
      public boolean write(Collection<OrderResult> results) {
        results.forEach(result -> tried.add(result.orderId()));
        return areWritten;
      }
    };
  }

  /** Also when MySQL's clock was set back since. */
  @ParameterizedTest
  @ValueSource(ints = {0, 3_600})
  void redisHearsOfACancelAlthoughTheProcessDiedAfterCommit(int secondsAhead) {
    open("LIMITED", 5, 100);
    OrderId id = orders.confirmed(sku, 1, 1);
    api.cancel(id, 1);
    forgetResult(id, 1);
    consumer.update(
        "UPDATE compensation SET done_at = NULL, created_at = created_at + INTERVAL ? SECOND"
            + " WHERE order_id = ?",
        secondsAhead,
        id.value());

    eventually().until(() -> orders.letter(sku, id).equals("X"));
    awaitCompensations();
    assertThat(orders.stockInRedis(sku)).isEqualTo(100);
  }

  private void forgetResult(OrderId id, long user) {
    String record = user + "|1|1|1767225600000|1|C|1767225600000";
    consumer.redis().hset(RedisKeys.bucket(sku, 0), id.toString(), record);
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
    String signature = sign(now(), body);
    InternalApi unsigned = api.with("Authorization", "");
    double before = consumer.counter("seckill.consumer.payment.callbacks.refused");

    assertThat(callback(old, body).status()).isEqualTo(401);
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
    assertThat(callback(now(), tooLong).code()).isEqualTo("PAYLOAD_TOO_LARGE");
    assertThat(consumer.counter("seckill.consumer.payment.callbacks.refused"))
        .as("counted, for the alert")
        .isEqualTo(counted + 1);
    assertThat(callback(now(), "{\"eventId\":\"a\"}").field()).isEqualTo("type");
    assertThat(orders.status(id)).isEqualTo("CONFIRMED");
  }

  private void open(String policy, int limit, long stock) {
    new Sales(consumer).open(sku, policy, limit, stock);
  }

  private static Answer pay(OrderId id, long user) {
    return api.pay(id, user);
  }

  private static Answer cancel(OrderId id, long user) {
    return api.cancel(id, user);
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

  private static Answer callback(String timestamp, String body) {
    return api.with("Authorization", "")
        .with("X-Payment-Timestamp", timestamp)
        .with("X-Payment-Signature", sign(timestamp, body))
        .post("/internal/v1/payments/callback", body);
  }

  private static String sign(String timestamp, String body) {
    return consumer
        .bean(CallbackSignature.class)
        .sign(timestamp, body.getBytes(StandardCharsets.UTF_8));
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

  private static String charge(OrderId id) {
    return consumer.textOr(
        "NONE",
        "SELECT CONCAT(state, ' ', amount_cents) FROM simulated_charge WHERE order_id = ?",
        id.value());
  }

  private static String payment(OrderId id) {
    return consumer.text("SELECT state FROM payment WHERE order_id = ?", id.value());
  }

  private static long refundsDue() {
    return consumer.number("SELECT COUNT(*) FROM payment WHERE state IN ('REFUND_DUE', 'STARTED')");
  }

  private static long compensations(long skuId) {
    return consumer.number("SELECT COUNT(*) FROM compensation WHERE sku_id = ?", skuId);
  }

  /** Redis may be asked again later. */
  private static void awaitCompensations() {
    eventually().until(() -> orders.pendingCompensations() == 0);
  }
}
