package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** MySQL decides sales of Redis for a while, and loses no order that Redis has promised. */
@ExtendWith(TestServers.class)
class FallbackIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(31_000);
  private static final int GATEWAY = 1;

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.fallback", "automatic",
              "seckill.reconciliation.barrier-timeout", "20s",
              "pause.fallbackControlSweeper", "50ms",
              "pause.fallbackLookSweeper", "100ms"));

  private static final FallbackFixture fallback = new FallbackFixture(consumer);
  private static final StoredInvariants ledger = new StoredInvariants(consumer.sql());
  @AutoClose private static final OrderFlood broker = new OrderFlood(consumer.vhost());

  private final AdmittedSale sale =
      new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
  private final long sku = sale.sku;
  private final String path = "/internal/v1/skus/" + sku;

  @BeforeEach
  void nothingIsReservedForOthers() {
    execute("DELETE FROM gateway_node");
  }

  @AfterEach
  void comeBack() {
    consumer.redis().del(RedisKeys.stockChanges(sku));
    execute("DELETE FROM gateway_node");
    if (!fallback.state().equals("REDIS")) {
      fallback.comeBack();
    }
    ledger.check();
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sku);
    sale.forget(); // or its orders that went nowhere would be expected in the queue
  }

  @Test
  void nobodyDecidesUntilThePromisesOfGatewaysAreKnown() {
    long version = fallback.number(sku, "state_version");
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);

    long term = fallback.enter();

    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("MYSQL ENTERING 2");
    assertThat(fallback.number(sku, "state_version")).isEqualTo(version + 1);
    fallback.beat(GATEWAY, term, "UNUSABLE", 0); // it transfers
    assertThat(fallback.buy(sku, 7)).isEqualTo("BUSY");
    assertThat(stock("change-01", 5).code()).isEqualTo("BUSY");
    fallback.assertBalanced(sku);

    fallback.transfer(GATEWAY, term, "");
    fallback.awaitState("MYSQL");

    assertThat(fallback.product(sku, "fallback")).isEqualTo("ACTIVE");
    assertThat(fallback.number(sku, "state_version")).isEqualTo(version + 2);
    JsonNode bought = fallback.buy(sku, 7, "key-00000001", 2);
    assertThat(bought.path("outcome").asString()).isEqualTo("CONFIRMED");
    assertThat(epochOf(bought)).isEqualTo(2);
    fallback.assertBalanced(sku);
  }

  @Test
  void whatAGatewayHasPromisedIsARowBeforeMySqlDecides() {
    OrderMessage promised = sale.admit(7, 4);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 4), promised);

    assertThat(ledger.status(promised)).isEqualTo("CONFIRMED");
    assertThat(fallback.number(sku, "reserved_units")).isZero();
    assertThat(fallback.buy(sku, 7, promised.requestId(), 4).toString())
        .isEqualTo(
            "{\"outcome\":\"REPEATED\",\"orderId\":\"%s\",\"status\":\"CONFIRMED\"}"
                .formatted(promised.orderId()));
    assertThat(fallback.buy(sku, 7, "key-00000001", 2).path("outcome").asString())
        .isEqualTo("QUOTA_EXCEEDED");

    fallback.transfer(GATEWAY, 1, "", promised);
    OrderMessage last = sale.admit(9, 1);
    broker.publish(promised, last);
    ledger.awaitOrders(sku, 2);
    assertThat(ledger.status(promised)).isEqualTo("CONFIRMED");
    assertThat(ledger.stock(sku)).isEqualTo(15);
    fallback.assertBalanced(sku);
  }

  @Test
  void unitsThatRedisHasAdmittedAreKeptForTheirOrders() {
    OrderMessage first = sale.admit(7, 3);
    OrderMessage second = sale.admit(8, 2);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 5));
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(5);
    assertThat(gauge("seckill.fallback.mode")).isEqualTo(1);

    IntStream.rangeClosed(1, 3).forEach(n -> assertThat(buyFive(100 + n)).isEqualTo("CONFIRMED"));
    assertThat(buyFive(110)).as("only the reserve could serve it").isEqualTo("BUSY");
    assertThat(fallback.buy(sku, 111)).isEqualTo("BUSY");
    assertThat(stock("change-01", -1).body().path("state").asString()).isEqualTo("REFUSED");

    broker.publish(first, second);
    ledger.awaitOrders(sku, 5);
    assertThat(ledger.status(first)).isEqualTo("CONFIRMED");
    assertThat(ledger.status(second)).isEqualTo("CONFIRMED");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', stock, reserved_units)")).isEqualTo("0 0");
    assertThat(fallback.buy(sku, 112)).isEqualTo("SOLD_OUT");
    fallback.assertBalanced(sku);
  }

  @Test
  void theLastLookCountsWhenNoGatewayTells() {
    sale.admit(7, 4);
    awaitLook(4);

    fallback.enter();
    fallback.awaitState("MYSQL");

    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(4);
  }

  /** Redis admits six units more after the last look at it, and order-consumer loses it then. */
  @ParameterizedTest(name = "transferred {0}, with the orders {1}: {2} reserved")
  @CsvSource({
    "true, false, 10", // as gateways report, and not the 4 of the look
    "true, true, 0", // all are stored
    "false, false, 20" // more may have been promised
  })
  void anOldLookAtRedisDecidesNothing(boolean isHandedOver, boolean areStored, long reserved) {
    OrderMessage seen = sale.admit(7, 4);
    awaitLook(4);
    consumer.redis().sadd(RedisKeys.stock(1), "foreign"); // each look fails from now on
    try {
      OrderMessage[] all = {seen, sale.admit(8, 4), sale.admit(9, 2)};
      if (isHandedOver) {
        fallback.enterWith(GATEWAY, admitted(sku, 1, 10), areStored ? all : new OrderMessage[0]);
      } else {
        fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
        fallback.enter();
        fallback.awaitState("MYSQL");
      }

      assertThat(consumer.bean(RedisLooks.class).of(sku).orElseThrow().admittedUnits())
          .as("units in the last look")
          .isEqualTo(4);
      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(reserved);
    } finally {
      consumer.redis().del(RedisKeys.stock(1));
    }
  }

  @Test
  void aGatewayThatHasForgottenOrdersLeavesAReserve() {
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    long term = fallback.enter();
    assertThat(fallback.transfer(GATEWAY, term, "", false).status()).isEqualTo(204);
    fallback.awaitState("MYSQL");

    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(20);
    assertThat(fallback.buy(sku, 7)).isEqualTo("BUSY");

    Answer released = consumer.api().post(path + "/release-reserve", "{}");
    assertThat(released.status()).as(released.text()).isEqualTo(200);
    assertThat(fallback.number(sku, "reserved_units")).isZero();
    assertThat(fallback.buy(sku, 7)).isEqualTo("CONFIRMED");
  }

  @Test
  void whereEverythingIsReservedNothingThatComesBackIsSold() {
    OrderMessage known = sale.admit(7, 4);
    OrderMessage late = sale.admit(8, 2);
    OrderMessage refused = sale.admit(7, 5); // of more than the shopper's limit
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    fallback.beat(2, 0, "UNUSABLE", 0);
    long term = fallback.enter();
    fallback.transfer(GATEWAY, term, "", known);
    fallback.awaitState("MYSQL"); // the second gateway is dead

    broker.publish(refused);
    ledger.awaitOrders(sku, 2);
    assertThat(ledger.status(refused)).isEqualTo("REJECTED QUOTA_EXCEEDED");
    assertThat(fallback.buy(sku, 8)).isEqualTo("BUSY");
    call(known.orderId().toString(), 7, "cancel");
    assertThat(fallback.buy(sku, 8)).isEqualTo("BUSY");

    broker.publish(late);
    ledger.awaitOrders(sku, 3);
    assertThat(ledger.status(late)).isEqualTo("CONFIRMED");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', stock, reserved_units)")).isEqualTo("18 18");
    fallback.assertBalanced(sku);
  }

  @Test
  void aReserveOfKnownSizeDoesNotKeepReturnedUnits() {
    OrderMessage late = sale.admit(7, 1);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 1));
    IntStream.rangeClosed(1, 3).forEach(n -> assertThat(buyFive(100 + n)).isEqualTo("CONFIRMED"));
    JsonNode last = fallback.buy(sku, 104, "key-of-the-last", 4);
    assertThat(fallback.buy(sku, 105)).as("only the reserve could serve it").isEqualTo("BUSY");

    call(last.path("orderId").asString(), 104, "cancel");

    assertThat(fallback.product(sku, "CONCAT_WS(' ', stock, reserved_units)")).isEqualTo("5 1");
    assertThat(fallback.buy(sku, 105)).isEqualTo("CONFIRMED");
    broker.publish(late);
    ledger.awaitOrders(sku, 6);
    assertThat(ledger.status(late)).isEqualTo("CONFIRMED");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', stock, reserved_units)")).isEqualTo("3 0");
    fallback.assertBalanced(sku);
  }

  @Test
  void aGatewayThatIsSilentIsLetGoAfterALookAtRedis() {
    sale.admit(7, 4);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    execute("UPDATE gateway_node SET heard_at = heard_at - INTERVAL 36 SECOND");

    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isZero());

    assertThat(
            ledger.number("SELECT units FROM admitted_units WHERE epoch = 1 AND sku_id = " + sku))
        .isEqualTo(4);
  }

  @Test
  void whatAGatewayThatStopsPromisedIsKnownAndItsRegistrationOver() {
    OrderMessage promised = sale.admit(7, 4);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    fallback.transfer(GATEWAY, 0, admitted(sku, 1, 6), promised);

    assertThat(fallback.end(GATEWAY).status()).isEqualTo(204);
    assertThat(fallback.end(GATEWAY).status()).as("once more").isEqualTo(204);

    assertThat(fallback.view().path("gateways").size()).isZero();
    assertThat(ledger.status(promised)).isEqualTo("CONFIRMED");
    fallback.enter();
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(sku, "reserved_units")).as("of orders of others").isEqualTo(2);
  }

  @Test
  void aGatewayThatDiedLeavesItsReserveWithTheSalesThatRedisHasLost() {
    AdmittedSale lost =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    lost.admit(7, 4);
    awaitLook(lost.sku, 4);
    execute("UPDATE products SET last_seq = 5 WHERE sku_id = " + lost.sku);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    execute("UPDATE gateway_node SET heard_at = heard_at - INTERVAL 36 SECOND");
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isZero());

    fallback.enter();
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(sku, "reserved_units")).isZero();
    assertThat(fallback.number(lost.sku, "reserved_units")).isEqualTo(20);

    fallback.comeBack();
    fallback.enter();
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(lost.sku, "reserved_units")).as("in another epoch").isZero();
    fallback.comeBack();
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + lost.sku);
    lost.forget();
  }

  @Test
  void aLaterLookThatIncludesAllOrdersEndsTheDoubt() {
    String unknown = "SELECT COUNT(*) FROM admitted_units WHERE unknown_orders AND sku_id = " + sku;
    execute("UPDATE products SET last_seq = 5 WHERE sku_id = " + sku);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    execute("UPDATE gateway_node SET heard_at = heard_at - INTERVAL 36 SECOND");
    eventually().until(() -> ledger.number(unknown) == 1);

    execute("UPDATE products SET last_seq = 0 WHERE sku_id = " + sku);

    eventually().until(() -> ledger.number(unknown) == 0);
  }

  @Test
  void beginsAndEndsByItself() {
    double entered = counter("seckill.fallback.entered");
    whileBeating("UNUSABLE", 1_000, "ENTERING");
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("automatic");
    fallback.awaitState("MYSQL");
    assertThat(counter("seckill.fallback.entered")).isEqualTo(entered + 1);

    fallback.beat(1, 1, "USABLE", 9_000);
    fallback.beat(2, 1, "USABLE", 10_000);
    tick();
    assertThat(fallback.state()).isEqualTo("MYSQL");

    whileBeating("USABLE", 10_000, "REDIS");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("REDIS NO 3");
    fallback.assertStoresAgree(sku);
  }

  @Test
  void aGatewayWithoutFallbackPreventsIt() {
    fallback.beat(1, "off", 0, "UNUSABLE", 5_000);
    fallback.beat(2, 0, "UNUSABLE", 5_000);

    tick();
    Answer refused = consumer.api().post(FallbackFixture.FALLBACK + "/enter", "{}");

    assertThat(fallback.state()).isEqualTo("REDIS");
    assertThat(refused.code()).isEqualTo("REFUSED");
    assertThat(refused.text()).contains("gateway-1:8080");
  }

  @Test
  void isBegunOnceAndEndedByAnOperator() {
    assertThat(fallback.leave().code()).isEqualTo("REFUSED");

    fallback.enter();
    Answer again = consumer.api().post(FallbackFixture.FALLBACK + "/enter", "{}");
    assertThat(again.status()).isEqualTo(409);
    assertThat(again.code()).isEqualTo("REFUSED");
    fallback.awaitState("MYSQL");
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("tester");
    assertThat(fallback.number(sku, "epoch")).isEqualTo(2);

    fallback.beat(1, 1, "UNUSABLE", 0);
    assertThat(fallback.leave().code()).isEqualTo("REFUSED");
    fallback.beat(1, 1, "USABLE", 60_000);
    tick();
    assertThat(fallback.state()).isEqualTo("MYSQL");
    assertThat(fallback.leave().status()).isEqualTo(200);
    fallback.awaitState("REDIS");
  }

  @Test
  void isRefusedWhereItIsOff() {
    try (TestConsumer off = consumer.another(Map.of())) {
      FallbackFixture others = new FallbackFixture(off);

      assertThat(others.view().path("mode").asString()).isEqualTo("off");
      assertThat(others.beat(3, 0, "USABLE", 0).path("failurePercent").intValue()).isEqualTo(50);
      Answer refused = off.api().post(FallbackFixture.FALLBACK + "/enter", "{}");
      assertThat(refused.code()).isEqualTo("REFUSED");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void redisGetsEverythingBack(boolean isEmpty) {
    OrderMessage promised = sale.admit(7, 2);
    OrderMessage onItsWay = sale.admit(8, 1);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 3), promised);
    JsonNode bought = fallback.buy(sku, 9, "key-00000001", 2);
    JsonNode paid = fallback.buy(sku, 10, "key-00000002", 1);
    call(promised.orderId().toString(), 7, "cancel");
    broker.publish(onItsWay);
    ledger.awaitOrders(sku, 4);
    fallback.assertBalanced(sku);
    if (isEmpty) {
      sale.forget();
    }

    fallback.comeBack();

    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, reserved_units)"))
        .isEqualTo("REDIS NO 0");
    assertThat(sale.field("epoch")).isEqualTo("3").isEqualTo(fallback.product(sku, "epoch"));
    assertThat(sale.field("state")).isEqualTo("OPEN");
    assertThat(sale.field("stateVersion")).isEqualTo(fallback.product(sku, "state_version"));
    assertThat(sale.stock()).isEqualTo(16).isEqualTo(ledger.stock(sku));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
    assertThat(fallback.buy(sku, 11)).isEqualTo("BUSY");

    call(paid.path("orderId").asString(), 10, "payment");
    call(bought.path("orderId").asString(), 9, "cancel");
    eventually().untilAsserted(() -> assertThat(letter(paid, 10)).isEqualTo("P"));
    eventually().untilAsserted(() -> assertThat(sale.stock()).isEqualTo(18));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  @Test
  void mySqlSellsOnWhenRedisGoesAwayDuringTheReturn() throws SQLException {
    fallback.enterWith(GATEWAY, "");
    JsonNode bought = fallback.buy(sku, 9, "key-00000001", 2);
    execute("DELETE FROM gateway_node");
    Connection loading = fallback.loadingElsewhere(sku);
    assertThat(fallback.leave().status()).isEqualTo(200);

    assertThat(fallback.buy(sku, 10)).isEqualTo("BUSY");
    assertThat(stock("change-01", 5).code()).isEqualTo("BUSY");
    call(bought.path("orderId").asString(), 9, "cancel");
    assertThat(ledger.number("SELECT COUNT(*) FROM compensation WHERE sku_id = " + sku)).isOne();
    fallback.assertBalanced(sku);
    long epoch = fallback.number(sku, "epoch");
    long term = fallback.view().path("term").longValue();

    whileBeating("UNUSABLE", 1_000, "ENTERING");
    execute("DELETE FROM gateway_node");
    fallback.awaitState("MYSQL");

    assertThat(fallback.number(sku, "epoch")).isGreaterThan(epoch);
    assertThat(fallback.view().path("term").longValue()).isEqualTo(term + 1);
    assertThat(fallback.buy(sku, 10)).isEqualTo("CONFIRMED");
    fallback.assertBalanced(sku);

    loading.close();
    fallback.comeBack();
    assertThat(sale.stock()).isEqualTo(19);
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  @Test
  void unitsThatAreReturnedDuringTheLoadingReachRedis() throws SQLException {
    OrderMessage promised = sale.admit(7, 2);
    fallback.enterWith(GATEWAY, "", promised);
    execute("DELETE FROM gateway_node");
    Connection loading = fallback.loadingElsewhere(sku);
    assertThat(fallback.leave().status()).isEqualTo(200);

    call(promised.orderId().toString(), 7, "cancel");
    loading.close();
    fallback.awaitState("REDIS");

    eventually().untilAsserted(() -> assertThat(sale.stock()).isEqualTo(20));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  /** Redis learns what was bought, paid and cancelled after the loading had begun. */
  @Test
  void mySqlSellsOnWhileALargeSaleIsLoaded() {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    fallback.sell(sku, 30_000, 1_000);
    JsonNode cancelled = fallback.buy(sku, 9, "key-00000001", 2);
    JsonNode paid = fallback.buy(sku, 10, "key-00000002", 1);
    assertThat(fallback.leave().status()).isEqualTo(200);
    eventually()
        .pollInterval(Duration.ofMillis(5))
        .until(() -> fallback.product(sku, "fallback").equals("LOADING"));

    JsonNode bought = fallback.buy(sku, 11, "key-00000003", 3);
    call(cancelled.path("orderId").asString(), 9, "cancel");
    call(paid.path("orderId").asString(), 10, "payment");
    JsonNode regretted = fallback.buy(sku, 12, "key-00000004", 1);
    call(regretted.path("orderId").asString(), 12, "cancel");
    assertThat(fallback.product(sku, "fallback")).as("still").isEqualTo("LOADING");
    long sold = 0;
    Map<String, Long> nanos = new HashMap<>();
    long user = 1_000;
    long last = System.nanoTime();
    String before;
    do {
      before = fallback.product(sku, "fallback");
      sold += fallback.buy(sku, ++user).equals("CONFIRMED") ? 1 : 0;
      long now = System.nanoTime();
      nanos.merge(before, now - last, Long::sum);
      last = now;
    } while (!before.equals("NO"));

    assertThat(bought.path("outcome").asString()).isEqualTo("CONFIRMED");
    assertThat(sold).as("sold while the rest was loaded").isPositive();
    assertThat(nanos.getOrDefault("RETURNING", 0L))
        .as("sold by nobody, of %s", nanos)
        .isLessThan(nanos.get("LOADING"));
    assertThat(letter(bought, 11)).isEqualTo("C");
    eventually().untilAsserted(() -> assertThat(letter(paid, 10)).isEqualTo("P"));
    eventually().untilAsserted(() -> assertThat(sale.stock()).isEqualTo(ledger.stock(sku)));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  /** What keeps Redis from taking a sale. */
  private enum Obstacle {
    FOREIGN_STOCK,
    FOREIGN_STOPS,
    FULL,
    NO_REPLICAS
  }

  @ParameterizedTest
  @EnumSource
  void mySqlSellsOnWithoutAPauseWhileRedisCannotTakeTheSale(Obstacle obstacle) {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    long epoch = fallback.number(sku, "epoch");
    put(obstacle);
    try {
      eventually().until(() -> fallback.leave().status() == 200);
      awaitFailureToReturn();
      assertThat(fallback.product(sku, "CONCAT_WS(' ', fallback, epoch)"))
          .isEqualTo("ACTIVE " + epoch);
      assertThat(fallback.buy(sku, 9)).isEqualTo("CONFIRMED");
      long term = fallback.view().path("term").longValue();
      assertThat(fallback.enter()).as("entered again").isEqualTo(term + 1);
      fallback.awaitState("MYSQL");
      assertThat(fallback.buy(sku, 10)).isEqualTo("CONFIRMED");
    } finally {
      remove(obstacle);
    }
    fallback.comeBack();
    assertThat(sale.stock()).isEqualTo(18);
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(names = {"FULL", "NO_REPLICAS"})
  void mySqlSellsOnWhenRedisRefusesInTheMiddleOfLoading(Obstacle obstacle) {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    fallback.sell(sku, 30_000, 1_000);
    assertThat(fallback.leave().status()).isEqualTo(200);
    eventually()
        .pollInterval(Duration.ofMillis(5))
        .until(() -> fallback.product(sku, "fallback").equals("LOADING"));
    put(obstacle);
    try {
      awaitFailureToReturn();
      assertThat(fallback.product(sku, "fallback")).isNotEqualTo("NO");
      eventually().until(() -> fallback.buy(sku, 9).equals("CONFIRMED"));
    } finally {
      remove(obstacle);
    }
    fallback.awaitState("REDIS");
    eventually().untilAsserted(() -> assertThat(sale.stock()).isEqualTo(ledger.stock(sku)));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  private void put(Obstacle obstacle) {
    switch (obstacle) {
      case FOREIGN_STOCK -> {
        consumer.redis().del(RedisKeys.stock(sku));
        consumer.redis().sadd(RedisKeys.stock(sku), "foreign");
      }
      case FOREIGN_STOPS -> consumer.redis().set(stops(), "foreign");
      case FULL -> configure("maxmemory", "1");
      case NO_REPLICAS -> configure("min-replicas-to-write", "1");
    }
  }

  private void remove(Obstacle obstacle) {
    switch (obstacle) {
      case FOREIGN_STOCK -> consumer.redis().del(RedisKeys.stock(sku));
      case FOREIGN_STOPS -> consumer.redis().del(stops());
      case FULL -> configure("maxmemory", "0");
      case NO_REPLICAS -> configure("min-replicas-to-write", "0");
    }
  }

  private String stops() {
    return RedisKeys.stops(Partition.ofSku(sku));
  }

  private static void configure(String setting, String value) {
    consumer.redis().configSet(setting, value);
  }

  private void awaitFailureToReturn() {
    FallbackReturn back = consumer.bean(FallbackReturn.class);
    eventually().until(() -> !back.failure(sku).isEmpty());
  }

  @Test
  void aSaleWhoseLoadingFailsIsSoldByMySqlAgain() {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    long epoch = fallback.number(sku, "epoch");
    execute(
        "INSERT INTO dead_letter (sku_id, payload, payload_hash, reason, detail, attempts,"
            + " first_failed_at, last_failed_at) VALUES ("
            + sku
            + ", 'not an order', UNHEX(SHA2('not an order', 256)), 'TEST', '', 1, NOW(3), NOW(3))");
    try {
      assertThat(fallback.leave().status()).isEqualTo(200);
      awaitFailureToReturn();
      eventually().until(() -> fallback.product(sku, "fallback").equals("ACTIVE"));
      assertThat(fallback.number(sku, "epoch")).as("raised twice").isGreaterThan(epoch + 1);
      eventually().until(() -> fallback.buy(sku, 9).equals("CONFIRMED"));
    } finally {
      execute("DELETE FROM dead_letter WHERE reason = 'TEST'");
    }
    fallback.awaitState("REDIS");
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  /** Nobody takes the order out of Redis's list: no relay runs. */
  @Tag("proof")
  @Test
  void aSaleThatCannotReturnKeepsNoOtherFromReturning() {
    OrderMessage waiting = sale.admit(7, 1);
    sale.oneUnpublished();
    sale.outbox(waiting);
    AdmittedSale other =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.ONE_PER_USER, 1, 10);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 1), waiting);
    execute("DELETE FROM gateway_node");

    assertThat(fallback.leave().status()).isEqualTo(200);

    eventually().until(() -> fallback.product(other.sku, "fallback").equals("NO"));
    assertThat(fallback.product(sku, "fallback")).isEqualTo("ACTIVE");
    assertThat(fallback.buy(sku, 9)).isEqualTo("CONFIRMED");
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sku)));
    fallback.awaitState("REDIS");
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + other.sku);
    other.forget();
  }

  /** A return takes its units from the stock that Redis gets, because it may yet be stored. */
  @ParameterizedTest
  @ValueSource(strings = {"discarded", "refused"})
  void aDeadLetterThatIsSettledAfterTheReturnGivesItsUnitsBack(String how) {
    OrderMessage dead = sale.admit(7, 3);
    broker.publish(ofOtherPolicy(dead));
    String letter = "FROM dead_letter WHERE order_id = " + dead.orderId();
    ledger.await("SELECT COUNT(*) " + letter, 1);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 3));
    boolean isRefused = how.equals("refused"); // 6 units, and the limit is 5
    long bought = isRefused ? 3 : 0;
    if (isRefused) {
      fallback.buy(sku, 7, "key-00000001", 3);
    }
    fallback.comeBack();
    assertThat(sale.stock()).isEqualTo(17 - bought);
    assertThat(sale.quota(7)).isEqualTo(3 + bought);

    if (isRefused) {
      broker.publish(dead);
    } else {
      String path = "/internal/v1/dead-letters/" + ledger.number("SELECT id " + letter);
      Answer discarded = consumer.api().post(path + "/discard", "{\"reason\":\"test\"}");
      assertThat(discarded.status()).as(discarded.text()).isEqualTo(200);
    }

    eventually().until(() -> sale.stock() == 20 - bought);
    assertThat(sale.quota(7)).isEqualTo(bought);
    ledger.await(
        "SELECT COUNT(*) FROM compensation c JOIN products p ON p.sku_id = c.sku_id"
            + " WHERE c.epoch = p.epoch AND done_at IS NOT NULL AND order_id = "
            + dead.orderId(),
        1);
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  private static OrderMessage ofOtherPolicy(OrderMessage order) {
    return new OrderMessage(
        order.orderId(),
        order.userId(),
        order.skuId(),
        order.quantity(),
        order.requestId(),
        PurchasePolicy.UNLIMITED,
        order.epoch(),
        order.seq(),
        order.admittedAt(),
        null);
  }

  @Test
  void aSaleThatIsOverReturnsWithoutBeingLoaded() {
    sale.admit(7, 2);
    fallback.enterWith(GATEWAY, "");
    fallback.buy(sku, 9);
    assertThat(consumer.api().post(path + "/state", "{\"state\":\"CLOSED\"}").status())
        .isEqualTo(200);

    fallback.comeBack();

    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("REDIS NO 2");
    assertThat(consumer.redis().exists(RedisKeys.sku(sku))).isFalse();
    fallback.assertBalanced(sku);
    assertThat(consumer.api().post(path + "/preheat", "{}").status()).isEqualTo(200);
  }

  @Test
  void operatorsWorkOnASaleInFallbackAsOnAStrongSale() {
    fallback.enterWith(GATEWAY, "");

    assertThat(consumer.api().put(path, Sales.product("LIMITED", 5, 20)).status()).isEqualTo(200);
    assertThat(stock("change-01", 5).body().path("state").asString()).isEqualTo("DONE");
    assertThat(consumer.api().post(path + "/preheat", "{}").code()).isEqualTo("REFUSED");
    assertThat(consumer.api().post(path + "/reconciliation", "{\"dryRun\":false}").code())
        .isEqualTo("REFUSED");
    assertThat(consumer.api().post(path + "/state", "{\"state\":\"PAUSED\"}").status())
        .isEqualTo(200);
    assertThat(fallback.buy(sku, 7)).isEqualTo("PAUSED");
    assertThat(consumer.api().post(path + "/resume", "{}").status()).isEqualTo(200);
    assertThat(fallback.buy(sku, 7)).isEqualTo("CONFIRMED");

    consumer.api().post(path + "/state", "{\"state\":\"PAUSED\"}");
    fallback.comeBack();
    assertThat(sale.field("state")).isEqualTo("PAUSED");
    assertThat(sale.stock()).isEqualTo(24);
    assertThat(consumer.api().post(path + "/resume", "{}").status()).isEqualTo(200);
    assertThat(sale.field("state")).isEqualTo("OPEN");
    fallback.assertStoresAgree(sku);
  }

  @Test
  void gatewaysGetTheSettings() {
    String settings = FallbackFixture.FALLBACK + "/settings";
    String good = "{\"failurePercent\":60,\"failuresPerSecond\":4}";

    assertThat(consumer.api().put(settings, good).body().path("failurePercent").intValue())
        .isEqualTo(60);
    assertThat(fallback.beat(GATEWAY, 0, "USABLE", 0).path("failuresPerSecond").intValue())
        .isEqualTo(4);
    execute("UPDATE fallback SET failure_percent = 50, failures_per_second = 3");
  }

  @ParameterizedTest
  @CsvSource({
    "0000000000000000000000000000000G, 400",
    "00000000000000000000000000000001, 200",
  })
  void aTokenHas32HexadecimalDigits(String token, int status) {
    assertThat(
            consumer
                .api()
                .put(
                    "/internal/v1/gateways/" + token,
                    """
                    {"name":"gateway","fallback":"manual","term":0,"redis":"USABLE","forMs":0,
                     "breaker":"OPEN","failurePercent":0,"failuresPerSecond":0}
                    """)
                .status())
        .isEqualTo(status);
  }

  private static void whileBeating(String redis, long forMs, String state) {
    eventually()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(
            () -> {
              fallback.beat(1, 0, redis, forMs);
              fallback.beat(2, 0, redis, forMs);
              assertThat(fallback.state()).isEqualTo(state);
            });
  }

  private static void tick() {
    consumer.bean(FallbackControl.class).tick();
  }

  private void awaitLook(long admittedUnits) {
    awaitLook(sku, admittedUnits);
  }

  private static void awaitLook(long sku, long admittedUnits) {
    RedisLooks looks = consumer.bean(RedisLooks.class);
    eventually()
        .until(() -> looks.of(sku).filter(l -> l.admittedUnits() == admittedUnits).isPresent());
  }

  private String buyFive(long user) {
    return fallback.buy(sku, user, "key-of-five-" + user, 5).path("outcome").asString();
  }

  private static long epochOf(JsonNode bought) {
    return ledger.number(
        "SELECT epoch FROM orders WHERE order_id = " + bought.path("orderId").asString());
  }

  private Answer stock(String changeId, long delta) {
    return consumer
        .api()
        .with("Idempotency-Key", changeId)
        .post(path + "/stock", "{\"delta\":%d,\"reason\":\"a test\"}".formatted(delta));
  }

  private static void call(String id, long user, String action) {
    Answer answer =
        consumer
            .api()
            .post("/internal/v1/orders/" + id + "/" + action, "{\"userId\":" + user + "}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  /** The status letter of an order in Redis. */
  private String letter(JsonNode bought, long user) {
    int buckets = Integer.parseInt(sale.field("bucketCount"));
    OrderId id = OrderId.parse(bought.path("orderId").asString());
    String record =
        consumer
            .redis()
            .hget(RedisKeys.bucket(sku, RedisKeys.bucketOf(user, buckets)), id.toString());
    return String.valueOf(record).split("\\|", -1)[5];
  }

  private static double gauge(String name) {
    return consumer.gauge(name);
  }

  private static double counter(String name) {
    return consumer.counter(name);
  }

  private static void execute(String sql) {
    consumer.update(sql);
  }
}
