package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class OrderEventsIT {

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();

  /** A stream that is being read. */
  private record Listening(
      HttpResponse<Stream<String>> response, List<String> lines, CompletableFuture<Void> ended) {

    static Listening to(TestGateway gateway, Placed order) {
      HttpResponse<Stream<String>> response =
          gateway
              .http()
              .sendAsync(
                  gateway
                      .shop("/api/v1/orders/" + order.id() + "/events")
                      .header("Authorization", TestGateway.shopper(order.user()))
                      .build(),
                  BodyHandlers.ofLines())
              .orTimeout(60, TimeUnit.SECONDS)
              .join();
      List<String> lines = new CopyOnWriteArrayList<>();
      CompletableFuture<Void> ended =
          CompletableFuture.runAsync(() -> response.body().forEach(lines::add));
      return new Listening(response, lines, ended);
    }

    void awaitLine(String part) {
      eventually().untilAsserted(() -> assertThat(lines).anyMatch(line -> line.contains(part)));
    }

    void awaitEnd() {
      eventually().until(ended::isDone);
    }
  }

  @Test
  void pushesEveryChangeAndEndsAtAFinalState() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    Listening stream = Listening.to(gateway, order);
    assertThat(stream.response().headers().firstValue("Content-Type").orElse(""))
        .startsWith("text/event-stream");
    stream.awaitLine("\"status\":\"QUEUED\"");

    result(order, 'C');
    stream.awaitLine("\"status\":\"CONFIRMED\"");
    assertThat(stream.ended()).isNotDone();
    result(order, 'P');

    stream.awaitLine("\"status\":\"PAID\"");
    stream.awaitEnd();
    assertThat(stream.lines().stream().filter(line -> line.startsWith("data:"))).hasSize(3);
    assertThat(stream.lines()).contains("event:status");
  }

  @Test
  void tellsAFinalStateAtOnceAndEnds() {
    Placed order =
        stage.store(
            stage.onSale(PurchasePolicy.LIMITED, 5, 100), stage.newUser(), 1, 1, "EXPIRED", null);

    Listening stream = Listening.to(gateway, order);

    stream.awaitEnd();
    stream.awaitLine("\"status\":\"EXPIRED\"");
  }

  @Test
  void hidesTheStreamOfSomebodyElsesOrder() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    String path = "/api/v1/orders/" + order.id();
    assertThat(gateway.get(order.user(), path).status()).isEqualTo(200);

    GatewayAnswer answer = gateway.get(stage.newUser(), path + "/events");

    assertThat(answer.code()).isEqualTo("UNKNOWN_ORDER");
  }

  @Tag("proof")
  @Test
  void keepsASilentStreamAliveAndEndsItWhenItStops() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    TestGateway own =
        TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), stage.consumer().url());
    Listening stream = Listening.to(own, order);
    stream.awaitLine("QUEUED");
    eventually().untilAsserted(() -> assertThat(stream.lines()).contains(":"));

    own.close();

    stream.awaitEnd();
  }

  @Test
  void givesThePlaceOfAStreamThatWasLeftToTheNext() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    try (TestGateway own =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            stage.consumer().url(),
            "seckill.orders.max-streams=1")) {
      Listening first = Listening.to(own, order);
      first.awaitLine("QUEUED");
      assertThat(own.get(order.user(), "/api/v1/orders/" + order.id() + "/events").code())
          .isEqualTo("BUSY");
      first.response().body().close();

      eventually()
          .untilAsserted(
              () -> {
                Listening next = Listening.to(own, order);
                assertThat(next.response().statusCode()).isEqualTo(200);
                next.response().body().close();
              });
    }
  }

  private static void result(Placed order, char letter) {
    String buckets = stage.redis().hget(RedisKeys.sku(order.sku()), "bucketCount");
    String key =
        RedisKeys.bucket(order.sku(), RedisKeys.bucketOf(order.user(), Integer.parseInt(buckets)));
    String id = order.id().toString();
    AdmissionRecord seen = AdmissionRecord.parse(stage.redis().hget(key, id));
    String text = seen.format();
    String admission = text.substring(0, text.lastIndexOf('|', text.lastIndexOf('|') - 1));
    stage.redis().hset(key, id, admission + '|' + letter + '|' + System.currentTimeMillis());
  }
}
