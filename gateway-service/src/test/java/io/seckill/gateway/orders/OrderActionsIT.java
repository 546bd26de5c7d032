package io.seckill.gateway.orders;

import static io.seckill.gateway.testing.GatewayAnswer.available;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.web.SlowConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Payment, cancellation and order lists, with the real order-consumer. */
@ExtendWith(TestServers.class)
class OrderActionsIT {

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();

  @Test
  void doesNotCancelWhatIsPaid() {
    Placed order = confirmed();
    pay(order);
    assertThat(pay(order).text("status")).as("again").isEqualTo("PAID");

    GatewayAnswer answer = cancel(order);

    assertThat(answer.status()).isEqualTo(409);
    assertThat(answer.code()).isEqualTo("NOT_CANCELLABLE");
    assertThat(answer.text("orderStatus")).isEqualTo("PAID");
  }

  @Test
  void tellsTheOwnerThatAQueuedOrderIsNotYetPayable() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);

    assertThat(pay(order).code()).isEqualTo("NOT_PAYABLE");
    assertThat(pay(order).text("orderStatus")).isEqualTo("QUEUED");
    assertThat(cancel(order).code()).isEqualTo("NOT_CANCELLABLE");
  }

  @Test
  void paysTheStoredOrderWhenAskedByItsAlias() {
    Placed stored = confirmed();
    Placed alias = stage.buy(stored.user(), stored.sku(), 1);
    stage.update(
        "INSERT INTO order_alias (order_id, stored_order_id) VALUES (?, ?)",
        alias.id().value(),
        stored.id().value());
    stage.redis().del(RedisKeys.sku(stored.sku())); // Redis has lost the sale

    GatewayAnswer answer = pay(alias);

    assertThat(answer.text("status")).as(answer.toString()).isEqualTo("PAID");
    assertThat(answer.text("orderId")).isEqualTo(stored.id().toString());
    assertThat(show(alias).text("status")).as("right after it").isEqualTo("PAID");
    stage.closeQuarantined(stored.sku());
  }

  /** MySQL has the status, and the gateway has just read it. */
  @ParameterizedTest
  @CsvSource({"POST, /payment, PAID", "DELETE, '', CANCELLED"})
  void showsAnOrderOfAStrongSaleAsItIsAfterAnAction(String method, String rest, String status) {
    long sku = stage.onStrongSale();
    long user = stage.newUser();
    String order =
        available(() -> gateway.buy(user, sku, 1, "key-of-a-strong-order"))
            .expect(201)
            .header("Location");
    assertThat(available(() -> gateway.get(user, order)).text("status")).isEqualTo("CONFIRMED");

    String body = rest.isEmpty() ? null : "{}";
    available(() -> gateway.call(user, method, order + rest, body)).expect(200);

    assertThat(available(() -> gateway.get(user, order)).text("status")).isEqualTo(status);
  }

  /** The first call came before the COMMIT of the order, the next one after it. */
  @ParameterizedTest
  @CsvSource({"POST, /payment, PAID", "DELETE, '', CANCELLED"})
  void actsOnAnOrderThatIsStoredMeanwhile(String method, String rest, String status)
      throws Exception {
    Placed order = confirmed();
    try (SlowConsumer consumer = SlowConsumer.start();
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase(),
                stage.mysqlDatabase(),
                consumer.url(),
                "seckill.consumer.timeout=60s")) {
      String path = "/api/v1/orders/" + order.id() + rest;
      String body = rest.isEmpty() ? null : "{}";
      CompletableFuture<GatewayAnswer> asked =
          CompletableFuture.supplyAsync(() -> own.call(order.user(), method, path, body));
      if (body == null) {
        consumer.answer(404, "{\"code\":\"UNKNOWN_ORDER\"}");
      } else {
        consumer.answer(200, payment(order, "null"));
      }
      eventually().until(() -> asked.isDone() || consumer.waiting() > 0);
      if (!asked.isDone()) {
        consumer.answer(
            200, body == null ? row(order, status) : payment(order, row(order, status)));
      }

      assertThat(Bounded.get(asked).status()).as(Bounded.get(asked).toString()).isEqualTo(200);
      assertThat(Bounded.get(asked).text("status")).isEqualTo(status);
    }
  }

  private static String payment(Placed order, String row) {
    return "{\"outcomes\":[{\"orderId\":\"%s\",\"order\":%s,\"alone\":false}]}"
        .formatted(order.id(), row);
  }

  private static String row(Placed order, String status) {
    return """
    {"orderId":"%s","userId":%d,"skuId":%d,"quantity":1,"unitPriceCents":1999,"requestId":"%s",
     "status":"%s","reason":null,"admittedAt":"2026-11-11T00:00:00Z",
     "createdAt":"2026-11-11T00:00:00Z","updatedAt":"2026-11-11T00:00:00Z"}\
    """
        .formatted(order.id(), order.user(), order.sku(), order.key(), status);
  }

  @Test
  void listsOwnOrdersNewestFirstPageByPageQueuedOnesIncluded() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, 1_000);
    long user = stage.newUser();
    stage.buy(sku, 1); // another user's order
    Placed oldest = stage.buy(user, sku, 1);
    stage.store(oldest, 1, "PAID", null); // QUEUED in Redis
    Placed middle = stage.buy(user, sku, 2);
    Placed newest = stage.buy(user, sku, 3);

    JsonNode first = gateway.get(user, "/api/v1/orders?limit=2").json();
    JsonNode second =
        gateway
            .get(user, "/api/v1/orders?limit=2&cursor=" + first.path("next").stringValue())
            .json();

    assertThat(ids(first)).containsExactly(newest.id().toString(), middle.id().toString());
    assertThat(ids(second)).containsExactly(oldest.id().toString());
    assertThat(second.path("next").isNull()).isTrue();
    assertThat(first.path("orders").get(0).path("status").stringValue()).isEqualTo("QUEUED");
    assertThat(second.path("orders").get(0).path("status").stringValue()).isEqualTo("PAID");
  }

  private static Placed confirmed() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
    stage.update("INSERT INTO user_quota VALUES (?, ?, 1, 5)", order.user(), sku);
    return order;
  }

  private static GatewayAnswer pay(Placed order) {
    return gateway.call(order.user(), "POST", "/api/v1/orders/" + order.id() + "/payment", "{}");
  }

  private static GatewayAnswer cancel(Placed order) {
    return gateway.call(order.user(), "DELETE", "/api/v1/orders/" + order.id(), null);
  }

  private static GatewayAnswer show(Placed order) {
    return gateway.get(order.user(), "/api/v1/orders/" + order.id());
  }

  private static List<String> ids(JsonNode page) {
    return page.path("orders").valueStream().map(o -> o.path("orderId").stringValue()).toList();
  }
}
