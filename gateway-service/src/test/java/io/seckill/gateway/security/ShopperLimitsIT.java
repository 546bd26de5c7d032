package io.seckill.gateway.security;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class ShopperLimitsIT {

  private static final GatewayStage stage = GatewayStage.shared();

  @Test
  void countEveryRequestOfAUserWhateverItAsks() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    String path = "/api/v1/orders/" + order.id();
    try (TestGateway own =
        gateway("seckill.limits.user-per-second=0.001", "seckill.limits.user-burst=1")) {
      assertThat(own.get(order.user(), path).status()).isEqualTo(200);

      List<GatewayAnswer> refused =
          List.of(
              own.get(order.user(), path),
              own.get(order.user(), "/api/v1/orders"),
              own.get(order.user(), path + "/events"),
              own.call(order.user(), "POST", path + "/payment", "{}"),
              own.call(order.user(), "DELETE", path, null),
              own.buy(order.user(), order.sku(), 1, "key-of-one-too-many"));

      assertThat(refused)
          .allSatisfy(
              answer -> {
                assertThat(answer.status()).as(answer.toString()).isEqualTo(429);
                assertThat(answer.code()).isEqualTo("TOO_MANY_REQUESTS");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
              });
      assertThat(own.get(stage.newUser(), "/api/v1/orders").status()).isEqualTo(200);
      assertThat(own.adminGet("/admin/v1/skus").status()).as("operators: no limit").isEqualTo(200);
    }
  }

  @Test
  void countWhatNeedsNoTokenByItsAddress() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    try (TestGateway own =
        gateway(
            "seckill.limits.address-per-second=0.001",
            "seckill.limits.address-burst=4", // the stage's gateway has half
            "seckill.limits.trusted-proxies=127.0.0.0/8",
            "spring.main.cloud-platform=kubernetes")) { // where Boot would believe the first hop
      AtomicInteger others = new AtomicInteger();
      GatewayAnswer.available( // the product is read first
          () -> from(own, "10.0.1." + others.incrementAndGet(), "/api/v1/skus/" + sku));
      assertThat(from(own, "10.0.0.1", "/api/v1/skus/" + sku).status()).isEqualTo(200);
      assertThat(from(own, "10.0.0.1", "/api/v1/skus").status()).isEqualTo(200);

      assertThat(from(own, "10.0.0.1", "/api/v1/skus/" + sku).status()).isEqualTo(429);
      assertThat(from(own, "10.0.0.1", "/").status()).isEqualTo(429);
      assertThat(from(own, "10.0.9.9, 10.0.0.1", "/").status()).as("forged").isEqualTo(429);
      assertThat(from(own, "x, 10.0.0.1", "/").status()).as("forged").isEqualTo(429);
      assertThat(buyFrom(own, "10.0.0.1", sku).code()).isEqualTo("TOO_MANY_REQUESTS");
      assertThat(from(own, "10.0.0.1", "/api/v1/orders/1").code()).isEqualTo("TOO_MANY_REQUESTS");
      assertThat(buyFrom(own, "10.0.0.3", sku).status()).isNotEqualTo(429);
      assertThat(from(own, "10.0.0.2", "/").status()).isEqualTo(200);
      GatewayAnswer prefixed =
          own.send(
              own.shop("/")
                  .header("X-Forwarded-For", "10.0.0.4")
                  .header("X-Forwarded-Prefix", "/q"));
      assertThat(prefixed.status()).as("behind a proxy that removes /q").isEqualTo(200);
      assertThat(own.adminGet("/admin/v1/skus").status()).isEqualTo(200);
    }
  }

  @Test
  void endTheSearchForInventedOrdersAndNotForRealOnes() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    Placed stored = stage.store(order.sku(), order.user(), 1, 1, "EXPIRED", null);
    try (TestGateway own = gateway()) {
      assertThat(status(own, order.user(), "/api/v1/orders/" + order.id())).isEqualTo(200);

      long start = System.nanoTime();
      List<Integer> answers =
          IntStream.range(0, 150)
              .mapToObj(i -> own.get(order.user(), invented(i)).status())
              .toList();
      double lookedUp = own.counter("seckill.order.lookups");
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) + 1;

      assertThat(answers).isSubsetOf(404, 429, 503).contains(404, 429);
      assertThat(own.counter("seckill.requests.refused", "code", "TOO_MANY_REQUESTS"))
          .isEqualTo(Collections.frequency(answers, 429));
      assertThat(lookedUp)
          .as("half of 50 at once and of 2 a second, beside the stage's gateway")
          .isBetween(25.0, 25.0 + seconds + Collections.frequency(answers, 503));
      eventually("another token to be gone")
          .until(() -> own.call(order.user(), "DELETE", invented(1000), null).status() == 429);
      assertThat(status(own, order.user(), "/api/v1/orders/" + order.id())).isEqualTo(200);
      assertThat(status(own, stored.user(), "/api/v1/orders")).isEqualTo(200);
      assertThat(status(own, stage.newUser(), invented(1001))).isEqualTo(404);
    }
  }

  private static double counts(TestGateway gateway) {
    return gateway.gauge("seckill.gateways");
  }

  private static int status(TestGateway gateway, long user, String path) {
    return GatewayAnswer.available(() -> gateway.get(user, path)).status();
  }

  private static String invented(int sequence) {
    return "/api/v1/orders/"
        + OrderId.of(System.currentTimeMillis(), 3, OrderId.MYSQL_WORKER, sequence);
  }

  private static TestGateway gateway(String... properties) {
    TestGateway own =
        TestGateway.start(
            stage.redisDatabase(), stage.mysqlDatabase(), stage.consumer().url(), properties);
    eventually("the stage's gateway to be counted").until(() -> counts(own) == 2);
    return own;
  }

  private static GatewayAnswer buyFrom(TestGateway gateway, String address, long sku) {
    return gateway.post(
        gateway.purchase(stage.newUser(), sku).header("X-Forwarded-For", address),
        "{\"quantity\":1}");
  }

  private static GatewayAnswer from(TestGateway gateway, String address, String path) {
    return gateway.send(gateway.shop(path).header("X-Forwarded-For", address));
  }
}
