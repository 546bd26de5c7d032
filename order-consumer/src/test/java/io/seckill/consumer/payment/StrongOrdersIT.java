package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.testing.ConsumerAlone;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Orders of strong sales are paid, cancelled and expired with MySQL alone. */
@ExtendWith(TestServers.class)
@Timeout(50) // a call of Redis would take a minute
class StrongOrdersIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(13_001);
  private static final long TIMEOUT_SECONDS = 1_800;

  private static final TestConsumer consumer = ConsumerAlone.shared().consumer();
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  private final long sku = NEXT_SKU.getAndIncrement();

  @AfterEach
  void nothingIsOwedToRedis() {
    StoredInvariants stored = new StoredInvariants(consumer.sql());
    stored.check();
    assertThat(stored.number("SELECT COUNT(*) FROM compensation")).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ONE_PER_USER", "LIMITED", "UNLIMITED"})
  void aCancelledOrderReturnsItsUnitsInMySql(String policy) {
    open(policy);
    String version = orders.product(sku, "state_version");
    OrderId id = orders.strong(sku, 7, 1);

    Answer cancelled = call(id, "cancel");

    assertThat(cancelled.status()).as(cancelled.text()).isEqualTo(200);
    assertThat(orders.status(id)).isEqualTo("CANCELLED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    assertThat(orders.quotaInMySql(sku, 7)).isZero();
    assertThat(orders.product(sku, "state_version"))
        .as("purchases that were decided meanwhile take from the stock there is")
        .isEqualTo(version);
    assertThat(call(id, "cancel").status()).as("a repeat").isEqualTo(200);
    assertThat(orders.stockInMySql(sku)).isEqualTo(10);
    orders.strong(sku, 7, 1); // may buy again
  }

  @Test
  void aPaymentIsChargedAndTheOrderIsPaid() {
    open("LIMITED");
    OrderId id = orders.strong(sku, 7, 2);

    Answer paid = call(id, "payment");

    assertThat(paid.status()).as(paid.text()).isEqualTo(200);
    assertThat(orders.status(id)).isEqualTo("PAID");
    assertThat(call(id, "payment").body()).isEqualTo(paid.body());
    assertThat(call(id, "cancel").code()).isEqualTo("NOT_CANCELLABLE");
    assertThat(orders.stockInMySql(sku)).isEqualTo(8);
  }

  @Test
  void theSweepOfPaidResultsPassesPaidOrders() {
    open("LIMITED");
    OrderId id = orders.strong(sku, 7, 2);
    call(id, "payment");
    consumer.update(
        "UPDATE payment SET updated_at = NOW(6) - INTERVAL 10 SECOND WHERE order_id = ?",
        id.value());

    double failed = consumer.counter("seckill.consumer.sync.errors");

    consumer.bean(PaidResults.class).sweep();

    assertThat(consumer.counter("seckill.consumer.sync.errors"))
        .as("results that Redis, which is away, did not get")
        .isEqualTo(failed);
    assertThat(orders.status(id)).isEqualTo("PAID");
  }

  @Test
  void gatewaysReadTheTimeOutInMilliseconds() {
    assertThat(consumer.number("SELECT timeout_ms FROM payment_terms"))
        .isEqualTo(TIMEOUT_SECONDS * 1_000);
  }

  @Test
  void theSweepExpiresAnOrderWithoutAMessage() {
    open("LIMITED");
    OrderId due = orders.strong(sku, 7, 2);
    OrderId later = orders.strong(sku, 8, 1);
    orders.age(due, TIMEOUT_SECONDS + 1);
    orders.age(later, TIMEOUT_SECONDS - 60);

    ExpirySweep.by(consumer);

    assertThat(orders.status(due)).isEqualTo("EXPIRED");
    assertThat(orders.status(later)).isEqualTo("CONFIRMED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(9);
    assertThat(orders.quotaInMySql(sku, 7)).isZero();
  }

  @Test
  void aChargeOfAnOrderThatHadEndedIsRefunded() {
    open("LIMITED");
    OrderId id = orders.strong(sku, 7, 2);
    consumer.bean(PaymentTable.class).start(Map.of(id, 19_800L));
    consumer.bean(PaymentProvider.class).charge(id, 19_800);
    orders.age(id, TIMEOUT_SECONDS + 1);
    consumer.bean(Expiry.class).expire(List.of(id));
    assertThat(orders.status(id)).isEqualTo("EXPIRED");

    consumer.bean(PaymentSweep.class).sweep();

    assertThat(consumer.text("SELECT state FROM simulated_charge WHERE order_id = ?", id.value()))
        .isEqualTo("REFUNDED");
  }

  private void open(String policy) {
    int limit = policy.equals("LIMITED") ? 5 : policy.equals("UNLIMITED") ? 0 : 1;
    new Sales(consumer).openStrong(sku, policy, limit, 10);
  }

  private static Answer call(OrderId id, String action) {
    return consumer.api().post("/internal/v1/orders/" + id + "/" + action, "{\"userId\":7}");
  }
}
