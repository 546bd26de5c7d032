package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import redis.clients.jedis.UnifiedJedis;

/** Redis gets the result of each payment, also after failures. */
@ExtendWith(TestServers.class)
class LifecycleResultsIT extends OrderLifecycle {

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
}
