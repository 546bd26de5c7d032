package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.Answer;
import io.seckill.gateway.testing.Stage;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class OrderStatusIT {

  private static Stage stage;

  @BeforeAll
  static void start() {
    stage = Stage.shared();
  }

  @Test
  void showsAQueuedOrderWithItsPlaceInTheRow() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long user = stage.newUser();
    stage.gateway().buy(stage.newUser(), sku, 1, "key-first-in-row");
    String order = stage.gateway().buy(user, sku, 2, "key-second-in-row").text("orderId");

    Answer status = stage.gateway().get(user, "/api/v1/orders/" + order);

    assertThat(status.status()).as(status.toString()).isEqualTo(200);
    assertThat(status.text("status")).isEqualTo("QUEUED");
    assertThat(status.json().path("position").intValue()).isEqualTo(2);
    assertThat(status.json().path("quantity").intValue()).isEqualTo(2);
    assertThat(status.json().path("reason").isNull()).isTrue();
  }

  @Test
  void hidesAnOrderFromEverybodyButItsOwner() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    String order = stage.gateway().buy(stage.newUser(), sku, 1, "key-private").text("orderId");

    Answer status = stage.gateway().get(stage.newUser(), "/api/v1/orders/" + order);

    assertThat(status.status()).isEqualTo(404);
    assertThat(status.code()).isEqualTo("UNKNOWN_ORDER");
  }
}
