package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.Answer;
import io.seckill.gateway.testing.Stage;
import io.seckill.testing.TestServers;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;

@ExtendWith(TestServers.class)
class SkuPageIT {

  private static final Duration FRESH_AGAIN = Duration.ofSeconds(5);

  private static Stage stage;

  @BeforeAll
  static void start() {
    stage = Stage.shared();
  }

  @Test
  void showsAProductAndItsSaleToAnyone() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);

    Answer answer = show(sku);

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.text("name")).isEqualTo("A thing");
    assertThat(answer.json().path("priceCents").longValue()).isEqualTo(1999);
    assertThat(answer.text("policy")).isEqualTo("LIMITED");
    assertThat(answer.text("state")).isEqualTo("OPEN");
    assertThat(onSale(sku)).isTrue();
    assertThat(answer.json().path("soldOut").booleanValue()).isFalse();
    assertThat(answer.text("opensAt")).endsWith("Z");
  }

  @Test
  void listsWhatIsOnSaleAndWhatOfItIsGone() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    long closed = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    stage.gateway().operate("POST", Stage.admin(closed) + "/close", null);
    stage.buy(sku, 2);

    await()
        .atMost(FRESH_AGAIN)
        .untilAsserted(
            () -> {
              JsonNode skus =
                  stage.gateway().send(stage.gateway().shop("/api/v1/skus")).json().path("skus");
              assertThat(skus.valueStream().filter(one -> isSku(one, sku)))
                  .singleElement()
                  .satisfies(one -> assertThat(one.path("soldOut").booleanValue()).isTrue());
              assertThat(skus.valueStream()).noneMatch(one -> isSku(one, closed));
            });
  }

  private static boolean isSku(JsonNode listed, long sku) {
    return listed.path("skuId").longValue() == sku;
  }

  @Test
  void saysWhenTheLastUnitIsGoneAndWhenASaleIsClosed() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    assertThat(onSale(sku)).isTrue();
    stage.buy(sku, 2);
    await()
        .atMost(FRESH_AGAIN)
        .untilAsserted(() -> assertThat(show(sku).json().path("soldOut").booleanValue()).isTrue());
    assertThat(onSale(sku)).isFalse();

    stage.gateway().operate("POST", Stage.admin(sku) + "/close", null);
    await().atMost(FRESH_AGAIN).until(() -> show(sku).text("state"), "CLOSED"::equals);
  }

  @Test
  void isNotOnSaleBeforeItsPreheatNorWithoutRedis() {
    long sku = stage.newSku();
    stage
        .gateway()
        .operate("PUT", Stage.admin(sku), Stage.product(PurchasePolicy.UNLIMITED, 0, 10));
    assertThat(show(sku).text("state")).isEqualTo("NEW");
    assertThat(onSale(sku)).isFalse();

    long lost = stage.onSale(PurchasePolicy.LIMITED, 5, 2);
    stage.redis().del(RedisKeys.sku(lost));
    await().atMost(FRESH_AGAIN).until(() -> !onSale(lost));
  }

  private static Answer show(long sku) {
    return stage.gateway().send(stage.gateway().shop("/api/v1/skus/" + sku));
  }

  private static boolean onSale(long sku) {
    return show(sku).json().path("onSale").booleanValue();
  }
}
