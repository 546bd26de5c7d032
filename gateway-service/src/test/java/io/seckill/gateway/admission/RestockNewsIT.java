package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * When another process returns stock, a message lifts this gateway's sold-out shield. The shield's
 * lifetime is an hour here, so nothing else can lift it.
 */
@ExtendWith(TestServers.class)
class RestockNewsIT {

  private static final Duration SOON = Duration.ofMinutes(2);

  private static GatewayStage stage;
  private static TestGateway believing;

  @BeforeAll
  static void start() {
    stage = GatewayStage.shared();
    believing =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            stage.consumer().url(),
            "seckill.admission.sold-out-shield=1h");
    await().atMost(SOON).until(() -> believing.bean(VerifiedServers.class).allVerified());
    await().atMost(SOON).until(() -> believing.bean(RestockNews.class).isListening());
  }

  @AfterAll
  static void stop() {
    believing.close();
  }

  @Test
  void admitsWithoutAKeyWhenUnitsWereAdded() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, 1);
    stage.buy(sku, 1);
    believesSoldOut(sku);

    GatewayAnswer added =
        stage
            .gateway()
            .send(
                stage
                    .gateway()
                    .admin(GatewayStage.admin(sku) + "/stock")
                    .header("Authorization", TestGateway.operator())
                    .header("Content-Type", "application/json")
                    .header("Idempotency-Key", "change-" + sku)
                    .POST(BodyPublishers.ofString("{\"delta\":5,\"reason\":\"more came\"}")));

    assertThat(added.status()).as(added.toString()).isEqualTo(200);
    admits(sku);
  }

  @Test
  void admitsWithoutAKeyAfterACompensation() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, 1);
    Placed order = stage.buy(sku, 1);
    stage.store(order, 1, "CONFIRMED", null);
    believesSoldOut(sku);

    GatewayAnswer cancelled =
        stage.gateway().call(order.user(), "DELETE", "/api/v1/orders/" + order.id(), null);

    assertThat(cancelled.status()).as(cancelled.toString()).isEqualTo(200);
    admits(sku);
  }

  /** The message arrives first; the answer describes an earlier state. */
  @Test
  void isNotRaisedAgainByAnAnswerThatWasOnItsWay() {
    SoldOutShield shield = new SoldOutShield(Duration.ofHours(1));
    long asked = System.nanoTime();

    shield.lift(1);
    shield.raise(1, asked);

    assertThat(shield.covers(1)).isFalse();
    shield.raise(1, System.nanoTime());
    assertThat(shield.covers(1)).isTrue();
  }

  private static void believesSoldOut(long sku) {
    SoldOutShield shield = believing.bean(SoldOutShield.class);
    assertThat(buyWithoutKey(sku).code()).isEqualTo("SOLD_OUT");
    assertThat(shield.covers(sku)).isTrue();
    assertThat(buyWithoutKey(sku).code()).as("answered by the shield").isEqualTo("SOLD_OUT");
  }

  private static void admits(long sku) {
    await().atMost(SOON).until(() -> buyWithoutKey(sku).status() == 202);
  }

  private static GatewayAnswer buyWithoutKey(long sku) {
    return believing.call(
        stage.newUser(), "POST", "/api/v1/skus/" + sku + "/orders", "{\"quantity\":1}");
  }
}
