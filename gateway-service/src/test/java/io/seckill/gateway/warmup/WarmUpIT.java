package io.seckill.gateway.warmup;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.Ports;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class WarmUpIT {

  /** A warm-up longer than any test waits. */
  private static final String[] ENDLESS = {
    "seckill.warm-up.requests=1000000", "seckill.warm-up.at-most=10m"
  };

  private static final String BRIEF = "seckill.warm-up.requests=300";
  private static final String UNHURRIED = "seckill.warm-up.at-most=2m";

  private static final long NEVER_ON_SALE = 9_007_199_254_740_991L;

  private static final GatewayStage stage = GatewayStage.shared();

  @Test
  void isNotReadyUntilItHasEndedAndSellsMeanwhile() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 10);
    try (TestGateway gateway = gateway(stage.redisDatabase(), ENDLESS)) {
      GatewayAnswer warming = readiness(gateway);
      assertThat(warming.status()).isEqualTo(503);
      assertThat(state(warming)).isEqualTo("OUT_OF_SERVICE");
      assertThat(warming.json().at("/components/warmUp/details/reason").asString())
          .matches("warming up: \\d+ of 1000000");
      assertThat(component(gateway, "warmUp").status()).isEqualTo(503);
      assertThat(gateway.send(gateway.admin("/actuator/health/liveness")).status()).isEqualTo(200);
      long user = stage.newUser();
      eventually().until(() -> gateway.buy(user, sku, 1, "key-while-warming").status() == 202);
      assertThat(readiness(gateway).status()).isEqualTo(503);

      gateway.bean(WarmUp.class).stop();

      eventually().until(() -> readiness(gateway).status() == 200);
      eventually().until(WarmUpIT::threads, count -> count == 0);
    }
  }

  @Test
  void endsByItselfAndWritesNothing(RedisServer server) {
    RedisDatabase own = server.newDatabase();
    try (UnifiedJedis redis = own.open();
        TestGateway gateway = gateway(own, BRIEF, UNHURRIED)) {
      eventually().until(() -> readiness(gateway).status() == 200);

      assertThat(redis.keys("*"))
          .containsExactlyInAnyOrder(
              IntStream.range(0, Partition.COUNT)
                  .mapToObj(RedisKeys::workers)
                  .toArray(String[]::new));
      assertThat(purchases(gateway)).isEqualTo(300);
      assertThat(gateway.bean(WarmUp.class).answers).hasToString("{202=300}");
      assertThat(count(gateway, "seckill.admitted")).isZero();
      assertThat(refusedByRedis(gateway)).isEqualTo(300);
      eventually().until(WarmUpIT::threads, count -> count == 0);
    }
  }

  /** Only the gateway itself is answered as if there were such a SKU. */
  @Test
  void buysWhatNobodyElseCanBuyOrPutOnSale() {
    HttpRequest.Builder purchase =
        stage
            .gateway()
            .purchase(stage.newUser(), NEVER_ON_SALE)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"quantity\":1}"));
    for (String secret : List.of("", "0b6f7a5e-1d53-4c7b-9f57-4a3f0f6f9f10")) {
      GatewayAnswer refused = stage.gateway().send(purchase.setHeader("Warm-Up", secret));
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.json().path("field").asString()).isEqualTo("skuId");
    }
    String reserved = GatewayStage.admin(NEVER_ON_SALE);
    String product = GatewayStage.product(PurchasePolicy.UNLIMITED, 0, 10);

    assertThat(stage.gateway().operate("PUT", reserved, product).status()).isEqualTo(400);
    assertThat(stage.gateway().operate("POST", reserved + "/preheat", null).status())
        .isEqualTo(400);
    assertThat(stage.gateway().operate("POST", reserved + "/open", null).status()).isEqualTo(400);
  }

  @Test
  void reachesRedisAsShoppersDoAndStopsWithTheGateway() {
    try (TestGateway gateway = gateway(stage.redisDatabase(), ENDLESS)) {
      eventually().until(() -> refusedByRedis(gateway) > 100);
    }
    eventually().until(WarmUpIT::threads, count -> count == 0);
  }

  @Tag("proof")
  @Test
  void endsWithoutRedis(RedisServer server) throws IOException {
    int database = server.newDatabase().number();
    try (TcpProxy link = TcpProxy.to(server)) {
      link.dropToClient(true);
      try (TestGateway gateway =
          gateway(
              stage.redisDatabase(),
              BRIEF,
              UNHURRIED,
              TestGateway.shippedTimes()[0],
              TestGateway.shippedTimes()[1],
              "seckill.redis.url=redis://127.0.0.1:" + link.port() + "/" + database)) {
        eventually().until(() -> state(readiness(gateway)).equals("UP"));

        assertThat(readiness(gateway).status()).as("Redis is still unavailable").isEqualTo(503);
        // What Kubernetes asks, which keeps the gateway:
        // deploy/kubernetes/base/gateway-service.yaml.
        assertThat(component(gateway, "warmUp").status()).isEqualTo(200);
        assertThat(component(gateway, "readinessState").status()).isEqualTo(200);
        assertThat(refusedByRedis(gateway)).isZero();
      }
    }
  }

  @Tag("proof")
  @Test
  void warmsUpWhereAnIssuerSignsTokensAndIsReadyWhenItsKeysAreRead() throws IOException {
    int port = Ports.free();
    try (TestGateway gateway =
        gateway(
            stage.redisDatabase(),
            "seckill.warm-up.requests=2000", // more than it has users then
            UNHURRIED,
            "seckill.limits.user-per-second=0.01",
            "seckill.limits.user-burst=1",
            "seckill.security.hs256-secret=",
            "seckill.security.issuer=https://idp.example",
            "seckill.security.audience=shop",
            "seckill.security.jwk-set-uri=http://127.0.0.1:" + port)) {
      eventually().until(() -> component(gateway, "warmUp").status() == 200);
      assertThat(refusedByRedis(gateway)).isGreaterThan(1_500);
      assertThat(component(gateway, "issuerKeys").status()).isEqualTo(503);
      assertThat(gateway.buy(1, 1_001, 1, "key-without-issuer").status())
          .as("it is not known whether the token is good")
          .isEqualTo(503);

      HttpServer issuer = issuer(port, "{\"keys\":[]}");
      try {
        eventually().until(() -> readiness(gateway).status() == 200);
        assertThat(gateway.buy(1, 1_001, 1, "key-with-issuer").status()).isEqualTo(401);
      } finally {
        issuer.stop(0);
      }
    }
  }

  @Tag("proof")
  @Test
  void warmsUpWhereOneAddressMayNotBuySoOften() {
    try (TestGateway gateway =
        gateway(
            stage.redisDatabase(),
            BRIEF,
            UNHURRIED,
            "seckill.limits.address-per-second=1",
            "seckill.limits.address-burst=1")) {
      eventually().until(() -> readiness(gateway).status() == 200);

      assertThat(refusedByRedis(gateway)).isGreaterThan(200);
      long user = stage.newUser();
      GatewayAnswer shopper =
          eventually()
              .until(
                  () -> gateway.buy(user, 1_001, 1, "key-of-a-shopper"),
                  answer -> answer.status() == 429);
      assertThat(shopper.json().path("code").asString()).isEqualTo("TOO_MANY_REQUESTS");
    }
  }

  @Test
  void endsWhenItDoesNotReachItself() {
    try (TestGateway gateway =
        gateway(stage.redisDatabase(), BRIEF, UNHURRIED, "server.address=127.0.0.2")) {
      eventually().until(() -> readiness(gateway).status() == 200);

      assertThat(purchases(gateway)).isZero();
    }
  }

  @Test
  void doesNothingUnlessToldTo() {
    TestGateway gateway = stage.gateway();

    assertThat(gateway.bean(WarmUp.class).isRunning()).isFalse();
    assertThat(state(readiness(gateway))).isEqualTo("UP");
  }

  private static TestGateway gateway(RedisDatabase redis, String... properties) {
    return TestGateway.start(redis, stage.mysqlDatabase(), stage.consumer().url(), properties);
  }

  private static HttpServer issuer(int port, String keySet) throws IOException {
    byte[] body = keySet.getBytes(StandardCharsets.US_ASCII);
    HttpServer issuer =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    issuer.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    issuer.start();
    return issuer;
  }

  private static GatewayAnswer readiness(TestGateway gateway) {
    return gateway.send(gateway.admin("/actuator/health/readiness"));
  }

  private static GatewayAnswer component(TestGateway gateway, String name) {
    return gateway.send(gateway.admin("/actuator/health/readiness/" + name));
  }

  private static String state(GatewayAnswer readiness) {
    return readiness.json().at("/components/warmUp/status").asString();
  }

  /** Sent by the warm-up, also those refused for their token or their rate. */
  private static double purchases(TestGateway gateway) {
    double refused =
        gateway.bean(MeterRegistry.class).get("seckill.requests.refused").counters().stream()
            .mapToDouble(Counter::count)
            .sum();
    return count(gateway, "seckill.purchases") + refused;
  }

  private static double count(TestGateway gateway, String counter) {
    return gateway.counter(counter);
  }

  private static double refusedByRedis(TestGateway gateway) {
    return gateway.counter("seckill.refused", "reason", "unknown_sku");
  }

  /** Threads of the warm-up's client. */
  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("warm-up"))
        .count();
  }
}
