package io.seckill.consumer.payment;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** A sale of its own, on one consumer for the classes of these tests. */
abstract class OrderLifecycle {

  static final AtomicLong NEXT_SKU = new AtomicLong(5001);
  static final String SECRET = "secret-of-the-provider-0123456789abcdef";
  static final long TIMEOUT_SECONDS = 1_800;
  static final String STATUS = "SELECT status FROM orders WHERE order_id = ?";

  static final TestConsumer consumer =
      TestConsumer.shared(
          Map.of(
              "seckill.payment.callback-secret", SECRET,
              "seckill.payment.simulated-decline-from-cents", "500000",
              // The tests call the sweep themselves.
              "pause.expirySweeper", "1h",
              "pause.paymentSweeper", "1h",
              "pause.paidResultsSweeper", "100ms",
              "pause.compensationSweeper", "100ms"));

  static final InternalApi api = consumer.api();
  static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  final long sku = NEXT_SKU.getAndIncrement();

  void forgetResult(OrderId id, long user) {
    String record = user + "|1|1|1767225600000|1|C|1767225600000";
    consumer.redis().hset(RedisKeys.bucket(sku, 0), id.toString(), record);
  }

  void open(String policy, int limit, long stock) {
    new Sales(consumer).open(sku, policy, limit, stock);
  }

  static Answer pay(OrderId id, long user) {
    return api.pay(id, user);
  }

  static Answer cancel(OrderId id, long user) {
    return api.cancel(id, user);
  }

  static String charge(OrderId id) {
    return consumer.textOr(
        "NONE",
        "SELECT CONCAT(state, ' ', amount_cents) FROM simulated_charge WHERE order_id = ?",
        id.value());
  }

  static String payment(OrderId id) {
    return consumer.text("SELECT state FROM payment WHERE order_id = ?", id.value());
  }

  /** Redis may be asked again later. */
  static void awaitCompensations() {
    eventually().until(() -> orders.pendingCompensations() == 0);
  }
}
