package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.RawConnection;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The two ways to an answer, through {@link DirectHandler} and through Reactor Netty. */
@ExtendWith(TestServers.class)
class DirectAnswersIT {

  /** A header that no server has to understand, but that {@link DirectHandler} leaves alone. */
  private static final String NOT_DIRECTLY = "Upgrade: nothing\r\n";

  private static final GatewayStage stage = GatewayStage.shared();

  @Test
  void giveTheSameBytes() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);
    String token = "Authorization: " + TestGateway.shopper(order.user()) + "\r\n";
    String key = "Idempotency-Key: " + order.key() + "\r\n";
    List<String> heads =
        List.of(
            purchase(sku) + token + key,
            purchase(sku) + token + key.replace("key", "k y"),
            purchase(sku) + key,
            purchase(sku) + "Authorization: Bearer " + "x".repeat(20) + "\r\n",
            purchase(0) + token + key,
            purchase(987_654_321) + token + key,
            "GET /api/v1/orders/" + order.id() + " HTTP/1.1\r\n" + token,
            "GET /api/v1/orders/" + order.id() + " HTTP/1.1\r\n",
            "GET /api/v1/orders/1" + " HTTP/1.1\r\n" + token,
            "GET /api/v1/orders/abc?x=y HTTP/1.1\r\n" + token);

    for (String head : heads) {
      String direct = answer(head);
      assertThat(direct).startsWith("HTTP/1.1 ").contains("X-Correlation-Id: correlation-1\r\n");
      assertThat(answer(head + NOT_DIRECTLY)).isEqualTo(direct);
    }
  }

  private static String purchase(long sku) {
    return "POST /api/v1/skus/" + sku + "/orders HTTP/1.1\r\nContent-Length: 14\r\n";
  }

  private static String answer(String head) {
    String body = head.startsWith("POST") ? "{\"quantity\":1}" : "";
    try (RawConnection shopper = new RawConnection(stage.gateway().shopPort())) {
      shopper.send(head + "Host: x\r\nX-Correlation-Id: correlation-1\r\n\r\n" + body);
      return shopper.answer();
    }
  }
}
