package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static java.util.concurrent.CompletableFuture.supplyAsync;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import redis.clients.jedis.exceptions.JedisException;
import tools.jackson.databind.JsonNode;

/** Sales return to Redis with all that MySQL has sold meanwhile. */
class FallbackReturnIT extends SaleInFallback {

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

  /** Redis, which has lost its data, would sell again what the second one has promised. */
  @Test
  void aSaleReturnsOnlyWhenItsGatewaysHaveTransferred() {
    OrderMessage promised = sale.admit(7, 4);
    whileBeating("UNUSABLE", 1_000, "ENTERING", "MYSQL");
    fallback.awaitState("MYSQL");
    long term = fallback.view().path("term").longValue();
    fallback.transfer(1, term, "");
    sale.forget();
    fallback.beat(1, term, "USABLE", 60_000);
    fallback.beat(2, term, "USABLE", 60_000);
    fallback.gatewaysStayAlive();

    consumer.bean(FallbackControl.class).tick();
    Answer refused = fallback.leave();

    assertThat(refused.code()).isEqualTo("REFUSED");
    assertThat(refused.text()).contains("gateway-2:8080 has not transferred").contains("stop it");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', sale_phase, reserved_units)"))
        .isEqualTo("MYSQL 20");
    fallback.transfer(2, term, admitted(sku, 1, 4), promised);
    fallback.awaitState("REDIS");
    assertThat(ledger.status(promised)).isEqualTo("CONFIRMED");
    assertThat(sale.stock()).isEqualTo(16);
    assertThat(sale.firstAnswer(promised)).isEqualTo(promised.orderId() + ":4");
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  @Test
  void mySqlSellsOnWhenRedisGoesAwayDuringTheReturn() throws SQLException {
    fallback.enterWith(GATEWAY, "");
    JsonNode bought = fallback.buy(sku, 9, "key-00000001", 2);
    execute("DELETE FROM gateway_node");
    Connection loading = fallback.loadingElsewhere(sku);
    assertThat(fallback.buy(sku, 10)).isEqualTo("BUSY");
    assertThat(stock("change-01", 5).code()).isEqualTo("BUSY");
    fallback.leaveSoon();

    call(bought.path("orderId").asString(), 9, "cancel");
    assertThat(ledger.number("SELECT COUNT(*) FROM compensation WHERE sku_id = " + sku)).isOne();
    fallback.assertBalanced(sku);
    long epoch = fallback.number(sku, "epoch");
    long term = fallback.view().path("term").longValue();

    whileBeating("UNUSABLE", 1_000, "ENTERING", "MYSQL");
    execute("DELETE FROM gateway_node");
    fallback.awaitState("MYSQL");

    assertThat(fallback.number(sku, "epoch")).isGreaterThan(epoch);
    assertThat(fallback.view().path("term").longValue()).isEqualTo(term + 1);
    assertThat(fallback.view().path("startedBy").asString()).as("ends so").isEqualTo("automatic");
    assertThat(fallback.buy(sku, 10)).isEqualTo("CONFIRMED");
    fallback.assertBalanced(sku);

    loading.close();
    fallback.comeBack();
    assertThat(sale.stock()).isEqualTo(19);
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  /** Its orders come to rest only then: Redis must not get a sale that MySQL is to decide. */
  @Test
  void aSaleDoesNotReturnOnceTheFallbackHasBegunAgain() {
    OrderMessage onItsWay = sale.admit(8, 1);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 1), onItsWay);
    execute("DELETE FROM gateway_node");
    String outbox = RedisKeys.outbox(Partition.ofSku(sku));
    consumer.redis().lpush(outbox, OrderMessageCodec.encode(onItsWay));
    fallback.leaveSoon();
    eventually().until(() -> sale.field("state").equals("PREHEATING"));
    fallback.enter();
    execute("DELETE FROM gateway_node");
    fallback.awaitState("MYSQL");
    long epoch = fallback.number(sku, "epoch");
    consumer.redis().del(outbox);

    String isOver = "SELECT IS_FREE_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-%d'))";
    eventually().until(() -> ledger.number(isOver.formatted(sku)) == 1);
    assertThat(fallback.product(sku, "sale_phase")).isEqualTo("MYSQL");
    assertThat(fallback.number(sku, "epoch")).isEqualTo(epoch);
    assertThat(fallback.buy(sku, 9)).isEqualTo("CONFIRMED");
  }

  @Test
  void anotherSaleIsPreheatedWhileThisOneCannotReturn() throws SQLException {
    long next = NEXT_SKU.incrementAndGet();
    String other = "/internal/v1/skus/" + next;
    consumer.api().put(other, Sales.product("LIMITED", 5, 20));
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    assertThat(consumer.api().post(other + "/preheat").code()).isEqualTo("REFUSED");

    try (Connection loading = fallback.loadingElsewhere(sku)) {
      fallback.leaveSoon();
      assertThat(consumer.api().post(other + "/preheat").status()).isEqualTo(200);
      assertThat(consumer.api().post(path + "/preheat").code()).isEqualTo("REFUSED");
      assertThat(fallback.state()).isEqualTo("RETURNING");
      assertThat(loading.isValid(1)).isTrue();
    }
    fallback.awaitState("REDIS");
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + next);
  }

  @Test
  void aStopOfFiveSecondsEndsAndTheNextMayTakeTwiceAsLong() throws SQLException {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may overflow
    StoppedReturns stopped = new StoppedReturns(consumer.bean(FallbackSales.class), nanos::get);
    for (int seconds : List.of(5, 10)) {
      try (Connection loading = fallback.loadingElsewhere(sku)) {
        long epoch = fallback.number(sku, "epoch");
        stopped.resume();
        nanos.addAndGet(Duration.ofSeconds(seconds).toNanos() - 1);
        stopped.resume();
        assertThat(fallback.product(sku, "fallback")).isEqualTo("RETURNING");
        nanos.incrementAndGet();
        stopped.resume();
        assertThat(fallback.product(sku, "fallback")).isEqualTo("ACTIVE");
        assertThat(fallback.number(sku, "epoch")).as("of the loading").isEqualTo(epoch + 1);
        assertThat(loading.isValid(1)).isTrue();
      }
    }
    assertThat(fallback.buy(sku, 9)).isEqualTo("CONFIRMED");
    fallback.comeBack();
    fallback.assertStoresAgree(sku);
  }

  @Test
  void aLoadingThatBeganAfterTheStopGoesOn() throws SQLException {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    AtomicLong nanos = new AtomicLong();
    AtomicReference<List<InFallback>> read = new AtomicReference<>(List.of());
    FallbackSales before =
        new FallbackSales(consumer.bean(FallbackDatabase.class)) {
          @Override
          List<InFallback> all() {
            return read.get();
          }
        };
    StoppedReturns stopped = new StoppedReturns(before, nanos::get);
    try (Connection loading = fallback.loadingElsewhere(sku)) {
      read.set(consumer.bean(FallbackSales.class).all());
      stopped.resume();
      execute("UPDATE products SET fallback = 'LOADING', epoch = epoch + 1 WHERE sku_id = " + sku);
      nanos.addAndGet(Duration.ofSeconds(5).toNanos());
      stopped.resume();
      assertThat(fallback.product(sku, "fallback")).isEqualTo("LOADING");

      execute("UPDATE products SET fallback = 'RETURNING' WHERE sku_id = " + sku);
      stopped.resume();
      nanos.addAndGet(Duration.ofSeconds(5).toNanos());
      stopped.resume();
      assertThat(fallback.product(sku, "fallback")).as("not a second time").isEqualTo("ACTIVE");
      assertThat(loading.isValid(60)).isTrue();
    }
  }

  /** Its Redis is unavailable, too. */
  @Test
  void mySqlSellsOnAfterTheProcessThatLoadedTheSaleHasDied() throws SQLException {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    fallback.loadingElsewhere(sku).close();
    assertThat(fallback.buy(sku, 9)).isEqualTo("BUSY");
    consumer.redis().del(RedisKeys.sku(sku));
    consumer.redis().set(RedisKeys.sku(sku), "foreign"); // refuses the first read
    try {
      assertThatThrownBy(
              () -> consumer.bean(SaleReturn.class).returnToRedis(sku, Duration.ofSeconds(5)))
          .isInstanceOf(JedisException.class);
      assertThat(fallback.buy(sku, 9)).isEqualTo("CONFIRMED");
    } finally {
      consumer.redis().del(RedisKeys.sku(sku));
    }
    fallback.comeBack();
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  @Test
  void unitsThatAreReturnedDuringTheLoadingReachRedis() throws SQLException {
    OrderMessage promised = sale.admit(7, 2);
    fallback.enterWith(GATEWAY, "", promised);
    execute("DELETE FROM gateway_node");
    Connection loading = fallback.loadingElsewhere(sku);
    fallback.leaveSoon();

    call(promised.orderId().toString(), 7, "cancel");
    loading.close();
    fallback.awaitState("REDIS");

    eventually().untilAsserted(() -> assertThat(sale.stock()).isEqualTo(20));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  /** Redis learns what was bought, paid and cancelled after the loading had begun. */
  @Tag("proof")
  @Test
  void mySqlSellsOnWhileALargeSaleIsLoaded() {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    fallback.sell(sku, 90_000, 1_000); // more than is loaded while a busy machine stands still
    JsonNode cancelled = fallback.buy(sku, 9, "key-00000001", 2);
    JsonNode paid = fallback.buy(sku, 10, "key-00000002", 1);
    fallback.leaveSoon();
    eventually()
        .pollInterval(Duration.ofMillis(5))
        .until(() -> fallback.product(sku, "fallback").equals("LOADING"));
    long start = System.nanoTime();

    JsonNode bought = fallback.buy(sku, 11, "key-00000003", 3);
    call(cancelled.path("orderId").asString(), 9, "cancel");
    call(paid.path("orderId").asString(), 10, "payment");
    JsonNode regretted = fallback.buy(sku, 12, "key-00000004", 1);
    call(regretted.path("orderId").asString(), 12, "cancel");
    assertThat(fallback.product(sku, "fallback")).as("still").isEqualTo("LOADING");
    long sold = 0;
    long user = 1_000;
    long last = System.nanoTime();
    Map<String, Long> nanos = new HashMap<>(Map.of("LOADING", last - start)); // of the calls above
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
        .isLessThan(nanos.getOrDefault("LOADING", 0L));
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

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void mySqlSellsOnWithoutAPauseWhileRedisCannotTakeTheSale(Obstacle obstacle) {
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    long epoch = fallback.number(sku, "epoch");
    put(obstacle);
    try {
      fallback.leaveSoon();
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
    keepUnreadableLetter();
    try {
      fallback.leaveSoon();
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

  /** The last step of a loading fails while MySQL has it. */
  private void keepUnreadableLetter() {
    execute(
        "INSERT INTO dead_letter (sku_id, payload, payload_hash, reason, detail, attempts,"
            + " first_failed_at, last_failed_at) VALUES ("
            + sku
            + ", 'not an order', UNHEX(SHA2('not an order', 256)), 'TEST', '', 1, NOW(3), NOW(3))");
  }

  /** Until it is settled: then the next loading releases them. */
  @ParameterizedTest
  @CsvSource({"discarded, 20", "stored, 17"})
  void theUnitsOfADeadLetterStayReservedWhenALoadingFails(String how, long stock) {
    OrderMessage dead = sale.admit(7, 3);
    broker.publish(AdmittedSale.copy(dead, dead.requestId(), PurchasePolicy.UNLIMITED));
    String letter = "FROM dead_letter WHERE order_id = " + dead.orderId();
    ledger.await("SELECT COUNT(*) " + letter, 1);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 3));
    execute("DELETE FROM gateway_node");
    long epoch = fallback.number(sku, "epoch");
    keepUnreadableLetter();
    try {
      fallback.leaveSoon();
      eventually().until(() -> fallback.number(sku, "epoch") > epoch + 1); // by loading, and after
      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(3);
      if (how.equals("stored")) {
        broker.publish(dead);
        ledger.awaitOrders(sku, 1);
      } else {
        discard(letter);
      }
      eventually("the next loading").until(() -> fallback.number(sku, "reserved_units") == 0);
    } finally {
      execute("DELETE FROM dead_letter WHERE reason = 'TEST'");
    }
    fallback.awaitState("REDIS");
    assertThat(sale.stock()).isEqualTo(stock).isEqualTo(ledger.stock(sku));
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  private static void discard(String letter) {
    String path = "/internal/v1/dead-letters/" + ledger.number("SELECT id " + letter);
    Answer discarded = consumer.api().post(path + "/discard", "{\"reason\":\"test\"}");
    assertThat(discarded.status()).as(discarded.text()).isEqualTo(200);
  }

  /** A return takes its units from the stock that Redis gets, because it may yet be stored. */
  @ParameterizedTest
  @ValueSource(strings = {"discarded", "refused"})
  void aDeadLetterThatIsSettledAfterTheReturnGivesItsUnitsBack(String how) {
    OrderMessage dead = sale.admit(7, 3);
    broker.publish(AdmittedSale.copy(dead, dead.requestId(), PurchasePolicy.UNLIMITED));
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
      discard(letter);
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

    fallback.reconcile(sku);
    fallback.enterWith(GATEWAY, "");
    assertThat(fallback.number(sku, "reserved_units")).as("in the next fallback").isZero();
  }

  /** Redis refuses its purchases, and gives repeats their first answer. */
  @ParameterizedTest
  @CsvSource({"CLOSED, UTC_TIMESTAMP(3) + INTERVAL 1 DAY", "OPEN, UTC_TIMESTAMP(3)"})
  void aSaleThatIsOverIsLoadedAsTheOthers(String state, String closesAt) {
    OrderMessage promised = sale.admit(7, 2);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 2), promised);
    fallback.buy(sku, 9);
    execute(
        "UPDATE products SET state = '%s', closes_at = %s WHERE sku_id = %d"
            .formatted(state, closesAt, sku));

    fallback.comeBack();

    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("REDIS NO 3");
    assertThat(sale.field("state")).isEqualTo(state);
    assertThat(sale.stock()).isEqualTo(17);
    assertThat(sale.firstAnswer(promised)).isEqualTo(promised.orderId() + ":2");
    fallback.assertStoresAgree(sku);
    fallback.assertBalanced(sku);
  }

  /** Three days ago, and Redis keeps a sale for two. */
  @Test
  void aSaleThatRedisWouldNotKeepReturnsWithoutBeingLoaded() {
    sale.admit(7, 2);
    fallback.enterWith(GATEWAY, "");
    fallback.buy(sku, 9);
    closes("- INTERVAL 3 DAY");

    fallback.comeBack();

    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("REDIS NO 2");
    assertThat(consumer.redis().exists(RedisKeys.sku(sku))).isFalse();
    fallback.assertBalanced(sku);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sku);
    closes("+ INTERVAL 1 DAY");
    eventually() // the barrier may be late
        .until(() -> consumer.api().post(path + "/preheat", "{}").status() == 200);
  }

  private void closes(String fromNow) {
    execute(
        "UPDATE products SET closes_at = UTC_TIMESTAMP(3) %s WHERE sku_id = %d"
            .formatted(fromNow, sku));
  }

  /** Order-consumer's clock may differ: it would remove a sale whose fallback goes on. */
  @ParameterizedTest(name = "MySQL's clock is {0} h behind, and says that it closed {1} h ago")
  @CsvSource({
    "0, 46, true",
    "0, 48, false",
    "72, 46, true",
    "72, 48, false",
    "-72, 46, true",
    "-72, 48, false"
  })
  void whetherRedisKeepsASaleIsJudgedByMySqlsClock(int behind, int closedAgo, boolean isKept) {
    JdbcClient mysql = consumer.bean(FallbackDatabase.class).jdbc();
    String closed =
        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', epoch = 2,"
            + " closes_at = UTC_TIMESTAMP(3) - INTERVAL %d HOUR WHERE sku_id = %d";

    rolledBack(
        () -> {
          mysql.sql("SET timestamp = UNIX_TIMESTAMP() - " + behind * 3_600).update();
          try {
            mysql.sql(closed.formatted(closedAgo, sku)).update();
            assertThat(ProductRows.find(mysql, sku).orElseThrow().isWanted()).isEqualTo(isKept);
            assertThat(FallbackSales.abandon(mysql, sku, 2)).isEqualTo(!isKept);
          } finally {
            mysql.sql("SET timestamp = DEFAULT").update();
          }
          return sku;
        });
  }

  /** Its closing time was put off after it was read. */
  @Test
  void aSaleThatIsNotOverAnyMoreDoesNotReturnWithoutBeingLoaded() {
    fallback.enterWith(GATEWAY, "");

    boolean isOver =
        FallbackSales.abandon(
            consumer.bean(FallbackDatabase.class).jdbc(), sku, fallback.number(sku, "epoch"));

    assertThat(isOver).isFalse();
    assertThat(fallback.product(sku, "fallback")).isEqualTo("ACTIVE");
    fallback.comeBack();
    fallback.assertStoresAgree(sku);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theUnitsOfASaleWhoseClosingTimeHasPassedAreCountedOnce(boolean isInRedis) {
    fallback.enterWith(GATEWAY, "");
    fallback.buy(sku, 9);
    if (isInRedis) {
      fallback.comeBack();
    }
    closes(isInRedis ? "" : "- INTERVAL 3 DAY");
    if (!isInRedis) {
      fallback.comeBack();
    }

    assertThat(consumer.redis().exists(RedisKeys.sku(sku))).isEqualTo(isInRedis);
    fallback.assertBalanced(sku);
  }

  @Tag("proof")
  @Test
  void theReserveOfAShardIsReleasedAlthoughTheOtherHasReturned() {
    long sharded = NEXT_SKU.incrementAndGet();
    String product = "/internal/v1/skus/" + sharded;
    List<Long> shards = Shards.ids(sharded, 2);
    consumer.api().put(product, Sales.product("LIMITED", 1, 200).replace("{", "{\"shards\":2,"));
    eventually().until(() -> consumer.api().post(product + "/preheat").status() == 200);
    eventually().until(() -> consumer.api().post(product + "/open").status() == 200);
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    long term = fallback.enter();
    fallback.transfer(GATEWAY, term, "", false);
    fallback.awaitState("MYSQL");
    fallback.beat(GATEWAY, term, "USABLE", 60_000); // without gateways nothing stays reserved
    fallback.gatewaysStayAlive();
    String foreign = RedisKeys.stock(shards.get(1));
    consumer.redis().del(foreign);
    consumer.redis().sadd(foreign, "foreign");
    fallback.leaveSoon();
    eventually().until(() -> fallback.product(shards.get(0), "fallback").equals("NO"));
    assertThat(fallback.number(shards.get(1), "reserved_units")).isEqualTo(100);

    Answer released = // not while its return is tried
        eventually()
            .until(
                () -> consumer.api().post(product + "/release-reserve", "{}"),
                answer -> answer.status() == 200);

    assertThat(released.status()).as(released.text()).isEqualTo(200);
    assertThat(fallback.number(shards.get(1), "reserved_units")).isZero();
    consumer.redis().del(foreign);
    fallback.awaitState("REDIS");
    assertThat(consumer.api().post(product + "/release-reserve", "{}").code()).isEqualTo("REFUSED");
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sharded);
    shards.forEach(id -> execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + id));
  }

  @Test
  void operatorsWorkOnASaleInFallbackAsOnAStrongSale() {
    fallback.enterWith(GATEWAY, "");

    assertThat(consumer.api().put(path, Sales.product("LIMITED", 5, 20)).status()).isEqualTo(200);
    assertThat(new Sales(consumer).putAsShown(sku).status()).isEqualTo(200);
    long version = consumer.api().get(path).number("version");
    String renamed =
        Sales.product("LIMITED", 5, 20)
            .replace("Phone", "Radio")
            .replace("{", "{\"version\":%d,".formatted(version));
    assertThat(consumer.api().put(path, renamed).number("version")).isGreaterThan(version);
    assertThat(consumer.api().put(path, renamed).status()).as("a repeat").isEqualTo(200);
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

  /** Redis, which was away since the stop, comes back with it. */
  @ParameterizedTest(name = "{0} changes in MySQL since")
  @CsvSource({"0, PAUSED", "1, PAUSED", "2, OPEN"})
  void aStopThatWasResumedInTheFallbackDoesNotComeBack(int changes, String state) {
    String version = fallback.product(sku, "state_version");
    consumer.redis().hset(RedisKeys.sku(sku), "stateVersion", version);
    fallback.enterWith(GATEWAY, "");
    if (changes > 0) {
      assertThat(consumer.api().post(path + "/state", "{\"state\":\"PAUSED\"}").status())
          .isEqualTo(200);
    }
    if (changes > 1) {
      assertThat(consumer.api().post(path + "/resume", "{}").status()).isEqualTo(200);
    }
    String stop = "PAUSED|%d|tester".formatted(System.currentTimeMillis());

    consumer.redis().hset(stops(), Long.toString(sku), stop);

    eventually().until(() -> !consumer.redis().hexists(stops(), Long.toString(sku)));
    assertThat(fallback.product(sku, "state")).isEqualTo(state);
    fallback.comeBack();
    assertThat(sale.field("state")).isEqualTo(state);
    fallback.assertStoresAgree(sku);
  }

  @ParameterizedTest
  @CsvSource({"RETURNING, NO, OPEN", "NO, ACTIVE, PAUSED"})
  void aResumeIsOfTheStoreThatHasTheSaleWhenItIsWritten(
      String before, String after, String inRedis) {
    String change = "UPDATE products SET fallback = '%s' WHERE sku_id = " + sku;
    consumer.api().post(path + "/state", "{\"state\":\"PAUSED\"}");
    execute(change.formatted(before));
    Future<Answer> resumed;
    try (RowLock held = consumer.lockProduct(sku)) {
      resumed = supplyAsync(() -> consumer.api().post(path + "/resume", "{}"));
      String waiting = "%%products%%%d%%FOR UPDATE".formatted(sku);
      eventually().until(() -> consumer.executing(waiting).isPresent());
      held.execute(change.formatted(after));
      held.commit();
    }

    assertThat(Bounded.get(resumed).status()).isEqualTo(200);
    assertThat(fallback.product(sku, "state")).isEqualTo("OPEN");
    assertThat(sale.field("state")).isEqualTo(inRedis);
    execute(change.formatted("NO"));
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
}
