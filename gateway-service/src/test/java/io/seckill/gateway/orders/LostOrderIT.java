package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.OwnRedis;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.VerifiedServers;
import org.junit.jupiter.api.Test;

/** Orders that Redis came back without, and that MySQL may not have stored yet. */
class LostOrderIT extends OwnRedis {

  private static final long SKU = 1_002;
  private static final long USER = 1;
  private static final String LIST = "/api/v1/orders";

  @Test
  void aLostOrderIsNeverNotFound() {
    TestSale sale = onSale();
    OrderId lost = OrderId.parse(gateway.buy(USER, SKU, 1, "key-0001").text("orderId"));
    assertThat(show(lost).text("status")).isEqualTo("QUEUED");
    assertThat(isComplete()).isTrue();

    link.cut();
    restart();
    sale.with("seq", 0).stock(10);
    redis.del(sale.bucket(USER));
    link.heal();

    eventually().until(() -> isQuarantinedAndShown(lost));
    assertThat(show(lost).code()).isEqualTo("STATUS_UNAVAILABLE");
    assertThat(show(invented(SKU)).code()).isEqualTo("STATUS_UNAVAILABLE");
    eventually("elsewhere") // by a user of its own: the searches of each are bounded
        .until(() -> show(USER + 1, invented(SKU + 1)).code(), "UNKNOWN_ORDER"::equals);
    assertThat(isComplete()).isFalse();

    sale.with("state", "PREHEATING").with("epoch", 2);
    database.sale(SKU, "OPEN", 2, 1);
    eventually().until(() -> !gateway.bean(VerifiedServers.class).isQuarantined(SKU));
    assertThat(show(lost).code()).as("while it is loaded").isEqualTo("STATUS_UNAVAILABLE");

    database.order(lost, SKU, USER, "CONFIRMED");
    assertThat(show(lost).text("status")).isEqualTo("CONFIRMED");
    sale.with("seq", 1).with("state", "OPEN");
    eventually().until(this::isComplete);
    assertThat(show(invented(SKU)).code()).isEqualTo("UNKNOWN_ORDER");
  }

  private TestSale onSale() {
    TestSale sale = TestSale.open(redis, SKU, PurchasePolicy.UNLIMITED, 0, 10);
    redis.sadd(RedisKeys.skus(sale.partition()), Long.toString(SKU));
    database.sale(SKU, "OPEN", 1, 0);
    awaitMark(SKU);
    return sale;
  }

  /** Also asserts what is shown meanwhile, from the first answer of the other server on. */
  private boolean isQuarantinedAndShown(OrderId lost) {
    GatewayAnswer order = show(lost);
    assertThat(order.status()).as(order.toString()).isIn(200, 503);
    GatewayAnswer list = gateway.get(USER, LIST);
    if (list.status() == 200 && list.json().path("orders").isEmpty()) {
      assertThat(list.json().path("complete").asBoolean()).as(list.toString()).isFalse();
    }
    return gateway.bean(VerifiedServers.class).isQuarantined(SKU);
  }

  private GatewayAnswer show(OrderId id) {
    return show(USER, id);
  }

  private GatewayAnswer show(long user, OrderId id) {
    return gateway.get(user, LIST + "/" + id);
  }

  private boolean isComplete() {
    GatewayAnswer list = gateway.get(USER, LIST);
    return list.status() == 200 && list.json().path("complete").asBoolean();
  }

  private static OrderId invented(long sku) {
    return OrderId.of(System.currentTimeMillis(), Partition.ofSku(sku), 2, 7);
  }
}
