package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(TestServers.class)
class OrderStatusIT {

  private static final AtomicInteger INVENTED = new AtomicInteger();

  /** Each read of a MySQL that is away takes so long; a read that must succeed is repeated. */
  private static final String SHORT_WAIT = "spring.datasource.hikari.connection-timeout=1000";

  private static GatewayStage stage;
  private static TestGateway gateway;

  @BeforeAll
  static void start() {
    stage = GatewayStage.shared();
    gateway = stage.gateway();
    eventually().until(() -> gateway.bean(PaymentTimeout.class).latest().isPresent());
  }

  @Test
  void showsAQueuedOrderWithItsPlaceInTheRow() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    gateway.buy(stage.newUser(), sku, 1, "key-first-in-row");
    Placed order = stage.buy(sku, 2);

    GatewayAnswer status = show(order);

    assertThat(status.status()).as(status.toString()).isEqualTo(200);
    assertThat(status.text("orderId")).isEqualTo(order.id().toString());
    assertThat(status.text("status")).isEqualTo("QUEUED");
    assertThat(status.json().path("skuId").longValue()).isEqualTo(sku);
    assertThat(status.json().path("quantity").intValue()).isEqualTo(2);
    assertThat(status.json().path("position").intValue()).isEqualTo(2);
    assertThat(status.json().path("expectedSeconds").isNull()).isTrue();
    assertThat(status.json().path("reason").isNull()).isTrue();
    assertThat(status.json().path("payBy").isNull()).isTrue();
  }

  @Test
  void expectsTheWaitFromThePaceThatItSees() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    gateway.buy(stage.newUser(), sku, 1, "key-first-in-row");
    Placed order = stage.buy(sku, 1);
    assertThat(show(order).json().path("expectedSeconds").isNull()).isTrue();

    set(sku, "settled", "1");

    eventually().until(() -> show(order).json().path("expectedSeconds").asInt(0) >= 1);
  }

  @Test
  void neverShowsAPlaceBeforeTheFirst() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);
    set(sku, "settled", "50");

    assertThat(show(order).json().path("position").intValue()).isEqualTo(1);
  }

  @Test
  void searchesNoSaleForAnOrderThatItAnsweredAsQueued() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    String searched = RedisKeys.skus(Partition.ofSku(sku));
    stage.redis().srem(searched, Long.toString(sku));

    GatewayAnswer status = show(stage.buy(sku, 1));

    stage.redis().sadd(searched, Long.toString(sku));
    assertThat(status.text("status")).as(status.toString()).isEqualTo("QUEUED");
  }

  @Test
  void hidesAnOrderFromEverybodyButItsOwner() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 10);
    Placed order = stage.buy(sku, 1);
    Placed stored = stage.store(sku, stage.newUser(), 1, 9, "CONFIRMED", null);
    long inTheSameBucket = order.user() + bucketCount(sku);

    for (Placed one : new Placed[] {order, stored}) {
      GatewayAnswer status = gateway.get(inTheSameBucket, "/api/v1/orders/" + one.id());
      assertThat(status.status()).as(status.toString()).isEqualTo(404);
      assertThat(status.code()).isEqualTo("UNKNOWN_ORDER");
    }
  }

  @Test
  void boundsHowOftenSomebodyElsesOrderIsLookedUpEvenIfItsOwnerHas() {
    Placed order = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    assertThat(show(order).status()).isEqualTo(200);
    long other = stage.newUser();

    assertThat(Stream.generate(() -> gateway.get(other, path(order)).status()).limit(500))
        .anyMatch(status -> status == 429)
        .containsOnly(404, 429);
    assertThat(show(order).status()).isEqualTo(200);
  }

  /** Redis answers, but MySQL may have orders that Redis lacks. */
  @Test
  void hidesAndBoundsInAFallbackWhatIsNotOnesOwn() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed queued = stage.buy(sku, 1);
    assertThat(show(queued).status()).isEqualTo(200); // the gateway remembers its owner
    Placed stored = stage.store(sku, stage.newUser(), 1, 9, "CONFIRMED", null);
    long other = stage.newUser();
    stage.fallback("MYSQL");
    try {
      for (String path : List.of(path(queued), path(stored), invented(sku))) {
        assertThat(gateway.get(other, path).code()).isEqualTo("STATUS_UNAVAILABLE");
      }
      assertThat(
              Stream.generate(() -> gateway.get(other, invented(sku)).code())
                  .limit(500)
                  .dropWhile("STATUS_UNAVAILABLE"::equals)
                  .findFirst())
          .contains("TOO_MANY_REQUESTS");
      assertThat(show(queued).status()).isEqualTo(200);
      assertThat(show(stored).status()).isEqualTo(200);
    } finally {
      stage.fallback("REDIS");
    }
  }

  @ParameterizedTest
  @EnumSource(OrderStatus.class)
  void showsEveryResultThatRedisHas(OrderStatus status) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);
    AdmissionRecord seen = record(order);
    boolean rejected = status == OrderStatus.REJECTED;
    write(
        order,
        result(
            seen,
            status,
            rejected ? RejectReason.SOLD_OUT : null,
            seen.admittedAt() + 1_000,
            null));

    GatewayAnswer answer = show(order);

    assertThat(answer.text("status")).isEqualTo(status.name());
    assertThat(answer.text("reason")).isEqualTo(rejected ? "SOLD_OUT" : "");
    assertThat(answer.json().path("position").isNull()).isEqualTo(status != OrderStatus.QUEUED);
    assertThat(answer.text("payBy"))
        .isEqualTo(
            status == OrderStatus.CONFIRMED
                ? Instant.ofEpochMilli(seen.admittedAt() + 1_000)
                    .plus(30, ChronoUnit.MINUTES)
                    .toString()
                : "");
  }

  @ParameterizedTest
  @EnumSource(
      value = OrderStatus.class,
      names = {"CONFIRMED", "PAID", "CANCELLED", "EXPIRED", "REJECTED"})
  void showsWhatMySqlHasOnceRedisHasForgottenTheSale(OrderStatus status) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    String reason = status == OrderStatus.REJECTED ? "QUOTA_EXCEEDED" : null;
    Placed order = stage.store(sku, stage.newUser(), 3, 1, status.name(), reason);
    stage.redis().del(RedisKeys.sku(sku));

    GatewayAnswer answer = show(order);

    assertThat(answer.text("status")).isEqualTo(status.name());
    assertThat(answer.json().path("quantity").intValue()).isEqualTo(3);
    assertThat(answer.text("reason")).isEqualTo(reason == null ? "" : reason);
    assertThat(answer.text("payBy").isEmpty()).isEqualTo(status != OrderStatus.CONFIRMED);
    stage.closeQuarantined(sku);
  }

  @Test
  void saysNoTimeToPayByBeforeItHasLearnedItFromMySql() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);
    AdmissionRecord seen = record(order);
    write(order, result(seen, OrderStatus.CONFIRMED, null, seen.admittedAt() + 1_000, null));
    try (TcpProxy toMySql =
        TcpProxy.to(stage.mysqlDatabase().host(), stage.mysqlDatabase().port())) {
      toMySql.cut();
      try (TestGateway own =
          TestGateway.start(
              stage.redisDatabase(),
              stage.mysqlDatabase().via(toMySql),
              stage.consumer().url(),
              SHORT_WAIT)) {
        eventually().until(() -> own.get(order.user(), path(order)).status() == 200);
        GatewayAnswer early = own.get(order.user(), path(order));
        assertThat(early.text("status")).as(early.toString()).isEqualTo("CONFIRMED");
        assertThat(early.json().path("payBy").isNull()).isTrue();

        toMySql.heal();

        eventually()
            .until(
                () -> own.get(order.user(), path(order)).text("payBy"),
                Instant.ofEpochMilli(seen.admittedAt() + 1_000)
                        .plus(30, ChronoUnit.MINUTES)
                        .toString()
                    ::equals);
      }
    }
  }

  /** A result that reached Redis with a wrong time: MySQL decides when the order expires. */
  @Test
  void showsTheTimeToPayThatMySqlHasWhenThatOfRedisIsOver() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 2);
    stage.store(order, 2, "CONFIRMED", null);
    AdmissionRecord seen = record(order);
    long anHourAgo = seen.admittedAt() - Duration.ofHours(1).toMillis();
    write(order, result(seen, OrderStatus.CONFIRMED, null, anHourAgo, null));

    GatewayAnswer hot = show(order);
    stage.redis().del(ordersKey(order));

    assertThat(hot.text("payBy")).as(hot.toString()).isEqualTo(show(order).text("payBy"));
  }

  @Test
  void findsALostResultInMySql() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 2);
    stage.store(order, 2, "CONFIRMED", null);
    grow(order, Duration.ofMinutes(-1));
    assertThat(show(order).text("status")).isEqualTo("QUEUED"); // recent: Redis is trusted

    grow(order, Duration.ofSeconds(70));

    assertThat(show(order).text("status")).isEqualTo("CONFIRMED");
  }

  @Test
  void findsALostResultWithoutAnyHelp() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 2);
    stage.store(order, 2, "CONFIRMED", null);

    eventually().until(() -> show(order).text("status"), "CONFIRMED"::equals);
  }

  @Test
  void keepsShowingAnOldOrderAsQueuedThatMySqlDoesNotKnowEither() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 2);
    grow(order, Duration.ofMinutes(5));

    assertThat(show(order).text("status")).isEqualTo("QUEUED");
    assertThat(record(order).status()).isEqualTo(OrderStatus.QUEUED);
  }

  @Test
  void asksMySqlAtMostOnceASecondForTheSameOrder() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 2);
    stage.storedUpTo(sku, 1);
    grow(order, Duration.ofMinutes(5));
    long start = System.nanoTime();
    double before = lookups();
    for (int poll = 0; poll < 200; poll++) {
      show(order);
    }
    long seconds = 1 + Duration.ofNanos(System.nanoTime() - start).toSeconds();

    assertThat(lookups() - before).isBetween(1.0, (double) seconds);
  }

  @Test
  void asksMySqlNothingAboutAnOrderBeyondThoseItHasStored() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 10_000);
    stage.store(stage.buy(sku, 1), 1, "CONFIRMED", null);

    eventually("the products are read in time, if not for every order")
        .until(
            () -> {
              Placed order = stage.buy(sku, 2);
              grow(order, Duration.ofMinutes(5));
              double before = lookups();
              assertThat(show(order).text("status")).isEqualTo("QUEUED");
              return lookups() == before;
            });
  }

  @ParameterizedTest
  @EnumSource(
      value = OrderStatus.class,
      names = {"CONFIRMED", "PAID", "CANCELLED", "EXPIRED", "REJECTED"})
  void answersForAnAliasWithTheOrderThatIsStored(OrderStatus status) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed alias = stage.buy(sku, 1);
    Placed stored = storeForAlias(alias, status);

    GatewayAnswer repeated = gateway.buy(alias.user(), sku, 1, alias.key());
    assertThat(repeated.status()).as(repeated.toString()).isEqualTo(202);
    assertThat(repeated.text("status")).isEqualTo(status.name());
    assertThat(repeated.text("orderId")).as("of the first answer").isEqualTo(alias.id().toString());
    GatewayAnswer hot = show(alias);
    stage.redis().del(ordersKey(alias));
    GatewayAnswer cold = show(alias);

    for (GatewayAnswer answer : new GatewayAnswer[] {hot, cold}) {
      assertThat(answer.text("status")).as(answer.toString()).isEqualTo(status.name());
      assertThat(answer.text("orderId")).isEqualTo(stored.id().toString());
    }
  }

  /** MySQL gets the order that is stored; the alias is in Redis and in MySQL. */
  private static Placed storeForAlias(Placed alias, OrderStatus status) {
    String reason = status == OrderStatus.REJECTED ? "QUOTA_EXCEEDED" : null;
    Placed stored = stage.store(alias.sku(), alias.user(), 1, 1, status.name(), reason);
    stage.update(
        "INSERT INTO order_alias (order_id, stored_order_id) VALUES (?, ?)",
        alias.id().value(),
        stored.id().value());
    AdmissionRecord seen = record(alias);
    write(alias, result(seen, OrderStatus.REJECTED, null, seen.changedAt() + 9, stored.id()));
    return stored;
  }

  @Test
  void findsInMySqlThatADelayedOrderIsStored() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);
    stage.store(order, 1, "CONFIRMED", null);
    AdmissionRecord seen = record(order);
    write(order, result(seen, OrderStatus.DELAYED, null, seen.admittedAt() + 9, null));

    assertThat(show(order).text("status")).isEqualTo("CONFIRMED");
  }

  @Test
  void showsADeadLetterAsDelayed() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 4);
    stage.storedUpTo(sku, 0);
    letDie(order, sku);
    grow(order, Duration.ofMinutes(1));

    eventually().untilAsserted(() -> assertThat(show(order).text("status")).isEqualTo("DELAYED"));
    stage.redis().del(ordersKey(order));
    eventually().untilAsserted(() -> assertThat(show(order).text("status")).isEqualTo("DELAYED"));

    assertThat(show(order).json().path("quantity").intValue()).isEqualTo(4);
  }

  @Test
  void showsAReplayedDeadLetterAsDelayedUntilItIsStoredAlsoOnceRedisHasForgottenTheSale() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 4);
    letDie(order, sku);
    stage.update(
        "UPDATE dead_letter SET state = 'REPLAYED' WHERE order_id = ?", order.id().value());
    stage.redis().del(RedisKeys.sku(sku));
    stage.closeQuarantined(sku);

    GatewayAnswer answer = show(order);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.text("status")).isEqualTo("DELAYED");
    stage.store(order, 4, "CONFIRMED", null);
    eventually().until(() -> show(order).text("status"), "CONFIRMED"::equals);
  }

  @Test
  void fallsBackToMySqlWhileRedisIsAwayAndSaysWhenItCannotKnow() throws Exception { // fault 6
    RedisServer server = TestServers.redis();
    try (TcpProxy proxy = TcpProxy.to(server.host(), server.port());
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase().via(proxy),
                stage.mysqlDatabase(),
                stage.consumer().url(),
                TestGateway.shippedTimes())) {
      long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
      Placed stored = stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
      Placed queued = stage.buy(sku, 1);
      eventually()
          .until(() -> own.get(queued.user(), path(queued)).text("status"), "QUEUED"::equals);
      eventually().until(() -> own.send(own.shop("/api/v1/skus/" + sku)).status() == 200);

      proxy.dropToClient(true);

      GatewayAnswer known = GatewayAnswer.available(() -> own.get(stored.user(), path(stored)));
      GatewayAnswer unknown = own.get(queued.user(), path(queued));
      assertThat(known.text("status")).as(known.toString()).isEqualTo("CONFIRMED");
      assertThat(unknown.status()).isEqualTo(503);
      assertThat(unknown.code()).isEqualTo("STATUS_UNAVAILABLE");
      assertThat(unknown.header("Retry-After")).isEqualTo("1");
      eventually("the cached sale to end")
          .until(
              () -> own.send(own.shop("/api/v1/skus/" + sku)).code(), "REDIS_UNAVAILABLE"::equals);
      assertThat(own.send(own.admin("/actuator/health/readiness")).status()).isEqualTo(503);

      proxy.heal();
      eventually()
          .until(() -> own.get(queued.user(), path(queued)).text("status"), "QUEUED"::equals);
      eventually()
          .until(() -> own.send(own.admin("/actuator/health/readiness")).status(), s -> s == 200);
    }
  }

  /** What has changed since the switch is in MySQL only, unless the order was final before. */
  @Test
  void saysInAFallbackThatItCannotKnowWhileMySqlIsAwayUnlessTheOrderIsFinal() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed confirmed = stage.buy(sku, 1);
    Placed paid = stage.buy(sku, 1);
    AdmissionRecord seen = record(confirmed);
    write(confirmed, result(seen, OrderStatus.CONFIRMED, null, seen.admittedAt() + 9, null));
    AdmissionRecord other = record(paid);
    write(paid, result(other, OrderStatus.PAID, null, other.admittedAt() + 9, null));
    stage.store(confirmed, 1, "CANCELLED", null);
    try (TcpProxy toMySql =
            TcpProxy.to(stage.mysqlDatabase().host(), stage.mysqlDatabase().port());
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase(),
                stage.mysqlDatabase().via(toMySql),
                stage.consumer().url(),
                SHORT_WAIT)) {
      stage.fallbackOfSales("ACTIVE", sku);
      eventually().until(() -> own.bean(ProductCache.class).decides(sku) == Decider.MYSQL);
      toMySql.cut();

      GatewayAnswer unknown = own.get(confirmed.user(), path(confirmed));
      assertThat(unknown.status()).as(unknown.toString()).isEqualTo(503);
      assertThat(unknown.code()).isEqualTo("STATUS_UNAVAILABLE");
      assertThat(own.get(paid.user(), path(paid)).text("status")).isEqualTo("PAID");

      toMySql.heal();
      eventually()
          .until(
              () -> own.get(confirmed.user(), path(confirmed)).text("status"), "CANCELLED"::equals);
    } finally {
      stage.fallbackOfSales("NO", sku);
    }
  }

  /** The REJECTED in Redis is not the result of the request. */
  @Test
  void saysThatItCannotKnowTheOrderOfAnAliasWhileMySqlIsAway() throws Exception {
    Placed alias = stage.buy(stage.onSale(PurchasePolicy.LIMITED, 5, 100), 1);
    storeForAlias(alias, OrderStatus.CONFIRMED);
    try (TcpProxy toMySql =
            TcpProxy.to(stage.mysqlDatabase().host(), stage.mysqlDatabase().port());
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase(),
                stage.mysqlDatabase().via(toMySql),
                stage.consumer().url(),
                SHORT_WAIT)) {
      eventually()
          .until(() -> own.get(alias.user(), path(alias)).text("status"), "CONFIRMED"::equals);
      toMySql.cut();

      GatewayAnswer unknown =
          eventually("the cached answer of MySQL to end")
              .until(
                  () -> own.get(alias.user(), path(alias)),
                  answer -> !answer.text("status").equals("CONFIRMED"));
      assertThat(unknown.code()).as(unknown.toString()).isEqualTo("STATUS_UNAVAILABLE");
    }
  }

  @Test
  void findsOrdersOfAShopperWhoseIdNeedsAll63Bits() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 10_000);
    long user = Long.MAX_VALUE - stage.newUser();
    String id = gateway.buy(user, sku, 1, "key-of-many-bits").text("orderId");

    assertThat(gateway.get(user, "/api/v1/orders/" + id).text("status")).isEqualTo("QUEUED");
  }

  private static GatewayAnswer show(Placed order) {
    return gateway.get(order.user(), path(order));
  }

  private static String path(Placed order) {
    return "/api/v1/orders/" + order.id();
  }

  /** Another one each time. */
  private static String invented(long sku) {
    long time = System.currentTimeMillis();
    return "/api/v1/orders/"
        + OrderId.of(time, Partition.ofSku(sku), 250, INVENTED.getAndIncrement() % 1024);
  }

  private static void set(long sku, String field, String value) {
    stage.redis().hset(RedisKeys.sku(sku), field, value);
  }

  private static int bucketCount(long sku) {
    return Integer.parseInt(stage.redis().hget(RedisKeys.sku(sku), "bucketCount"));
  }

  private static String ordersKey(Placed order) {
    return RedisKeys.bucket(
        order.sku(), RedisKeys.bucketOf(order.user(), bucketCount(order.sku())));
  }

  private static AdmissionRecord record(Placed order) {
    return AdmissionRecord.parse(stage.redis().hget(ordersKey(order), order.id().toString()));
  }

  private static void write(Placed order, AdmissionRecord record) {
    stage.redis().hset(ordersKey(order), order.id().toString(), record.format());
  }

  /** Moves the time of admission back by {@code age}. */
  private static void grow(Placed order, Duration age) {
    AdmissionRecord now = record(order);
    long then = now.admittedAt() - age.toMillis();
    write(
        order,
        new AdmissionRecord(
            now.userId(),
            now.requestId(),
            now.quantity(),
            now.seq(),
            then,
            now.epoch(),
            now.status(),
            null,
            then,
            null));
  }

  private static AdmissionRecord result(
      AdmissionRecord seen, OrderStatus status, RejectReason reason, long at, OrderId stored) {
    return new AdmissionRecord(
        seen.userId(),
        seen.requestId(),
        seen.quantity(),
        seen.seq(),
        seen.admittedAt(),
        seen.epoch(),
        status,
        reason,
        at,
        stored);
  }

  private static void letDie(Placed order, long sku) {
    OrderMessage message =
        record(order).message(order.id(), sku, order.key(), PurchasePolicy.LIMITED);
    stage.update(
        """
        INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, reason,
            detail, attempts, first_failed_at, last_failed_at)
        VALUES (?, ?, ?, ?, UNHEX(SHA2(?, 256)), 'TEST', 'test', 5, UTC_TIMESTAMP(3),
            UTC_TIMESTAMP(3))
        """,
        order.id().value(),
        sku,
        order.user(),
        OrderMessageCodec.encode(message).getBytes(StandardCharsets.UTF_8),
        order.id().toString());
  }

  private static double lookups() {
    return gateway.counter("seckill.order.lookups");
  }
}
