package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import tools.jackson.databind.JsonNode;

/** Reports of a provider, on one consumer for the classes of these tests. */
abstract class ReportedCharges {

  static final AtomicLong NEXT_SKU = new AtomicLong(15_001);
  static final AtomicLong NEXT_EVENT = new AtomicLong();
  static final String SECRET = "secret-of-the-provider-0123456789abcdef";
  static final String ROWS = "/internal/v1/unexplained-charges";
  static final int PRICE = 9_900;

  static final TestConsumer consumer =
      TestConsumer.shared(
          Map.of(
              "seckill.payment.callback-secret", SECRET,
              // The tests call the sweeps themselves.
              "pause.expirySweeper", "1h",
              "pause.paymentSweeper", "1h",
              "pause.chargeReportSweeper", "1h",
              "pause.compensationSweeper", "1h",
              "pause.pendingWorkSweeper", "1h"));

  static final InternalApi api = consumer.api();
  static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  final long sku = NEXT_SKU.getAndIncrement();

  @BeforeEach
  void noRows() {
    consumer.update("DELETE FROM unexplained_charge");
  }

  /** What decides the sale of the order. */
  enum SoldBy {
    REDIS,
    STRONG_SALE,
    FALLBACK
  }

  OrderId order(SoldBy soldBy, String status) {
    Sales sales = new Sales(consumer);
    long own = soldBy == SoldBy.STRONG_SALE ? sku + 100_000 : sku;
    if (consumer.number("SELECT COUNT(*) FROM products WHERE sku_id = ?", own) == 0) {
      if (soldBy == SoldBy.STRONG_SALE) {
        sales.openStrong(own, "UNLIMITED", 0, 1_000);
      } else {
        sales.open(own, "UNLIMITED", 0, 1_000);
      }
    }
    OrderId id =
        soldBy == SoldBy.STRONG_SALE ? orders.strong(own, 7, 1) : orders.confirmed(own, 7, 1);
    if (soldBy == SoldBy.FALLBACK) {
      consumer.update(
          "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE' WHERE sku_id = ?", own);
    }
    switch (status) {
      case "CONFIRMED" -> {}
      case "PAID" -> assertThat(pay(id).status()).isEqualTo(200);
      case "CANCELLED" -> cancel(id);
      case "EXPIRED" -> {
        orders.age(id, 1_801);
        consumer.bean(Expiry.class).expire(List.of(id));
      }
      case "REJECTED" ->
          consumer.update("UPDATE orders SET status = 'REJECTED' WHERE order_id = ?", id.value());
      case "NOT_STORED" -> consumer.update("DELETE FROM orders WHERE order_id = ?", id.value());
      default -> throw new IllegalArgumentException(status);
    }
    assertThat(status(id)).isEqualTo(status);
    return id;
  }

  /** An order that is not stored yet, because it is on its way or a dead letter. */
  static void moveAway(OrderId id) {
    move(id.value(), -id.value());
  }

  static void moveBack(OrderId id) {
    move(-id.value(), id.value());
  }

  static void move(long from, long to) {
    consumer.update("UPDATE orders SET order_id = ? WHERE order_id = ?", to, from);
  }

  static Answer pay(OrderId id) {
    return api.pay(id, 7);
  }

  static Answer cancel(OrderId id) {
    return api.cancel(id, 7);
  }

  static Answer close(long row, String reason) {
    return api.post(ROWS + "/" + row + "/close", "{\"reason\":\"" + reason + "\"}");
  }

  /**
   * @param report type, charge, amount and perhaps currency
   */
  static Answer report(OrderId id, String report) {
    String[] words = report.split(" ", -1);
    String event = "evt-" + NEXT_EVENT.incrementAndGet();
    String body = body(event, id, words[0], charge(id, words[1]), Long.parseLong(words[2]));
    return callback(
        words.length < 4 ? body : body.replace("}", ",\"currency\":\"" + words[3] + "\"}"));
  }

  static String reason(Answer answer) {
    return answer.body().path("reason").asString("-");
  }

  static String charge(OrderId id, String name) {
    return name + "-" + id;
  }

  static String body(String event, OrderId id, String type, String charge, long amount) {
    return """
    {"eventId":"%s","type":"%s","orderId":"%s","chargeId":"%s","amountCents":%d}\
    """
        .formatted(event, type, id, charge, amount);
  }

  static Answer callback(String body) {
    return callback(api, body);
  }

  static Answer callback(InternalApi sender, String body) {
    return SignedCallback.now(SECRET, body).postTo(sender);
  }

  static List<JsonNode> list(String state) {
    return api.get(ROWS + (state == null ? "" : "?state=" + state))
        .body()
        .path("charges")
        .valueStream()
        .toList();
  }

  static List<String> openRows(OrderId id) {
    return list("OPEN").stream()
        .filter(row -> row.path("orderId").stringValue().equals(id.toString()))
        .map(
            row ->
                String.join(
                    " ",
                    row.path("reason").stringValue(),
                    row.path("kind").stringValue(),
                    row.path("chargeId").stringValue(),
                    row.path("amountCents").toString()))
        .toList();
  }

  static String status(OrderId id) {
    return text("SELECT status FROM orders WHERE order_id = ?", id, "NOT_STORED");
  }

  static String payment(OrderId id) {
    return text("SELECT state FROM payment WHERE order_id = ?", id, "-");
  }

  static String text(String sql, OrderId id, String otherwise) {
    return consumer.textOr(otherwise, sql, id.value());
  }

  static void age(String table, String column, String key, OrderId id, int seconds) {
    consumer.update(
        "UPDATE "
            + table
            + " SET "
            + column
            + " = NOW(6) - INTERVAL ? SECOND WHERE "
            + key
            + " = ?",
        seconds,
        id.value());
  }
}
