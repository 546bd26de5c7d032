package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Units of orders that have ended return to both stores once. */
@ExtendWith(TestServers.class)
class LifecycleUnitsIT extends OrderLifecycle {

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

  private static long compensations(long skuId) {
    return consumer.number("SELECT COUNT(*) FROM compensation WHERE sku_id = ?", skuId);
  }
}
