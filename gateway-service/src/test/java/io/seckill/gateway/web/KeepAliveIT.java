package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Sends requests on one connection, each as soon as the previous one is answered. Before {@link
 * ExchangeTurn} about one in a thousand was never read; the client's time-out then fails the test.
 * On a machine that stands still for a moment some are answered 503, which is an answer, too.
 */
@ExtendWith(TestServers.class)
class KeepAliveIT {

  private static final int REQUESTS = 1_000;

  /** Most purchases or lists that may be answered 503: one in twenty. */
  private static final int BUSY_SHARE = 20;

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();

  @Test
  void answersEveryPurchase() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, REQUESTS);
    long user = stage.newUser();

    int busy = 0;
    for (int purchase = 0; purchase < REQUESTS; purchase++) {
      int status = gateway.buy(user, sku, 1, "keep-alive-" + purchase).status();
      assertThat(status).isIn(202, 503);
      busy += status == 503 ? 1 : 0;
    }
    assertThat(busy).isLessThanOrEqualTo(REQUESTS / BUSY_SHARE);
  }

  @Tag("proof")
  @Test
  void answersEveryProbeOfTheAdminPort() {
    for (int probe = 0; probe < REQUESTS; probe++) {
      assertThat(gateway.send(gateway.admin("/actuator/health/liveness")).status()).isEqualTo(200);
    }
  }

  @Tag("proof")
  @Test
  void answersEveryListOfOrders() { // an annotated controller that blocks on threads of its own
    long user = stage.newUser();

    int lists = REQUESTS / 2;
    int busy = 0;
    for (int list = 0; list < lists; list++) {
      int status = gateway.get(user, "/api/v1/orders").status();
      assertThat(status).isIn(200, 503);
      busy += status == 503 ? 1 : 0;
    }
    assertThat(busy).isLessThanOrEqualTo(lists / BUSY_SHARE);
  }
}
