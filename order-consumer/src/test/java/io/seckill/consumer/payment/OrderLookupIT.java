package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.testing.ConsumerAlone;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What an operator is shown of an order id, wherever MySQL has it. */
@ExtendWith(TestServers.class)
class OrderLookupIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(13_901);

  private static final TestConsumer consumer = ConsumerAlone.shared().consumer();
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  private final long sku = NEXT_SKU.getAndIncrement();

  @Test
  void showsAStoredOrderAndItsPayment() {
    new Sales(consumer).openStrong(sku, "LIMITED", 5, 10);
    OrderId id = orders.strong(sku, 7, 2);

    Answer confirmed = show(id);
    consumer.api().pay(id, 7);
    Answer paid = show(id);

    assertThat(confirmed.status()).as(confirmed.text()).isEqualTo(200);
    assertThat(confirmed.text("orderId")).isEqualTo(id.toString());
    assertThat(confirmed.text("userId")).isEqualTo("7");
    assertThat(confirmed.number("skuId")).isEqualTo(sku);
    assertThat(confirmed.number("quantity")).isEqualTo(2);
    assertThat(confirmed.text("status")).isEqualTo("CONFIRMED");
    assertThat(confirmed.body().path("paymentState").isNull()).isTrue();
    assertThat(paid.text("status")).isEqualTo("PAID");
    assertThat(paid.text("paymentState")).isEqualTo("CHARGED");
    assertThat(paid.text("chargeId")).isNotEmpty();
  }

  @Test
  void showsAnOrderOfAnArchivedSaleAlsoByItsAlias() {
    OrderId id = id(1);
    consumer.update(
        "INSERT INTO order_history VALUES (?, 8, ?, 3, 9900, 'of-an-archived-sale', 'REJECTED',"
            + " 'SOLD_OUT', 1, 1, NOW(3), NOW(6), NOW(6))",
        id.value(),
        sku);
    consumer.update(
        "INSERT INTO payment_history VALUES (?, 29700, 'REFUNDED', 'sim-old', NOW(6), NOW(6))",
        id.value());
    for (String table : new String[] {"order_alias", "order_alias_history"}) {
      OrderId alias = id(table.equals("order_alias") ? 2 : 3);
      consumer.update(
          "INSERT INTO " + table + " (order_id, stored_order_id, created_at) VALUES (?, ?, NOW(6))",
          alias.value(),
          id.value());

      Answer shown = show(alias);

      assertThat(shown.status()).as(shown.text()).isEqualTo(200);
      assertThat(shown.text("orderId")).isEqualTo(id.toString());
      assertThat(shown.text("status")).isEqualTo("REJECTED");
      assertThat(shown.text("reason")).isEqualTo("SOLD_OUT");
      assertThat(shown.text("paymentState")).isEqualTo("REFUNDED");
      assertThat(shown.body()).isEqualTo(show(id).body());
    }
  }

  @Test
  void namesTheDeadLetterOfAnOrderThatIsNotStored() {
    OrderId id = id(1);
    consumer.update(
        "INSERT INTO dead_letter (order_id, payload, payload_hash, reason, detail, attempts,"
            + " first_failed_at, last_failed_at, state) VALUES (?, 'x', UNHEX(SHA2(?, 256)),"
            + " 'UNKNOWN_SKU', '', 1, NOW(3), NOW(3), 'DISCARDED')",
        id.value(),
        id.toString());

    Answer answer = show(id);

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.code()).isEqualTo("UNKNOWN_ORDER");
    assertThat(answer.text("detail")).contains(" (DISCARDED, UNKNOWN_SKU)");
  }

  @Test
  void findsNoOrderThatMySqlDoesNotHave() {
    for (String id : new String[] {id(1).toString(), "0", "x", "-1"}) {
      Answer answer = consumer.api().get("/internal/v1/orders/" + id);

      assertThat(answer.status()).as(id).isEqualTo(404);
      assertThat(answer.code()).as(id).isEqualTo("UNKNOWN_ORDER");
    }
  }

  /** Of no other class: its SKU is part of it. */
  private OrderId id(int number) {
    return new OrderId(sku * 100 + number);
  }

  private static Answer show(OrderId id) {
    return consumer.api().get("/internal/v1/orders/" + id);
  }
}
