package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import tools.jackson.databind.JsonNode;

/** MySQL decides sales of Redis for a while, and loses no order that Redis has promised. */
class FallbackIT extends SaleInFallback {

  @Test
  void nobodyDecidesUntilThePromisesOfGatewaysAreKnown() {
    long version = fallback.number(sku, "state_version");
    fallback.beatBeforeEntering(GATEWAY);

    long term = fallback.enter();

    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("MYSQL ENTERING 2");
    assertThat(fallback.number(sku, "state_version")).isEqualTo(version + 1);
    fallback.beat(GATEWAY, term, "UNUSABLE", 0); // it transfers
    fallback.gatewaysStayAlive();
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
    fallback.beatBeforeEntering(GATEWAY);
    long term = fallback.enter();
    String isNotLast = "\"isLast\":false,\"isComplete\":false";
    assertThat(fallback.part(GATEWAY, term, "", isNotLast, promised).status()).isEqualTo(204);
    assertThat(ledger.number("SELECT handed_over FROM gateway_node")).isLessThan(term);
    fallback.transfer(GATEWAY, term, admitted(sku, 1, 4));
    fallback.awaitState("MYSQL");

    assertThat(ledger.status(promised)).isEqualTo("CONFIRMED");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', reserved_units, reserves_all)"))
        .isEqualTo("0 0");
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
  void aTransferWhoseOrdersAreNotStoredIsRepeated() {
    OrderMessage promised = sale.admit(7, 4);
    fallback.beatBeforeEntering(GATEWAY);
    long term = fallback.enter();
    consumer.asRoot(
        "CREATE TRIGGER refusal BEFORE INSERT ON orders FOR EACH ROW"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'");
    try {
      Answer refused = fallback.transfer(GATEWAY, term, "", true, promised);

      assertThat(refused.status()).isEqualTo(503);
      assertThat(ledger.number("SELECT COUNT(*) FROM gateway_node WHERE handed_over >= " + term))
          .isZero();
    } finally {
      consumer.asRoot("DROP TRIGGER refusal");
    }
    fallback.transfer(GATEWAY, term, "", promised);
    fallback.awaitState("MYSQL");
    assertThat(ledger.status(promised)).isEqualTo("CONFIRMED");
  }

  /**
   * An operator decides on its dead letter, which may take longer than the fallback. Where MySQL
   * refuses the statements of eight orders as too long, the store blames none of them.
   */
  @ParameterizedTest(name = "{0} orders, which MySQL refuses by error {1}")
  @CsvSource({"1, 1644", "8, 3024"})
  void aPromisedOrderThatIsADeadLetterKeepsNobodyWaiting(int orders, int error) {
    OrderMessage[] dead =
        IntStream.range(0, orders)
            .mapToObj(n -> sale.admit(10 + n, 1))
            .toArray(OrderMessage[]::new);
    refuseOrders(dead, 1644);
    try {
      broker.publish(dead);
      ledger.await("SELECT COUNT(*)" + letters(dead), orders);
      consumer.asRoot("DROP TRIGGER refusal");
      refuseOrders(dead, error);

      fallback.enterWith(GATEWAY, admitted(sku, 1, orders), dead);

      assertThat(fallback.product(sku, "CONCAT_WS(' ', reserved_units, reserves_all)"))
          .isEqualTo(orders + " 0");
      assertThat(fallback.buy(sku, 8)).isEqualTo("CONFIRMED");
    } finally {
      consumer.asRoot("DROP TRIGGER refusal");
    }

    for (OrderMessage order : dead) {
      long letter = ledger.number("SELECT id" + letters(order));
      String replay = "/internal/v1/dead-letters/" + letter + "/replay";
      eventually().until(() -> consumer.api().post(replay).status() == 200);
      eventually().until(() -> ledger.status(order).equals("CONFIRMED"));
    }
    assertThat(fallback.number(sku, "reserved_units")).isZero();
    fallback.assertBalanced(sku);
  }

  /** By a trigger, until it is dropped. */
  private static void refuseOrders(OrderMessage[] orders, int error) {
    consumer.asRoot(
        """
        CREATE TRIGGER refusal BEFORE INSERT ON orders FOR EACH ROW IF NEW.order_id IN (%s)
        THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = %d, MESSAGE_TEXT = 'refused'; END IF
        """
            .formatted(ids(orders), error));
  }

  private static String letters(OrderMessage... orders) {
    return " FROM dead_letter WHERE state = 'OPEN' AND order_id IN (%s)".formatted(ids(orders));
  }

  private static String ids(OrderMessage... orders) {
    return Arrays.stream(orders)
        .map(order -> order.orderId().toString())
        .collect(Collectors.joining(","));
  }

  @Test
  void unitsThatRedisHasAdmittedAreKeptForTheirOrders() {
    OrderMessage first = sale.admit(7, 3);
    OrderMessage second = sale.admit(8, 2);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 5));
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(5);
    eventually().until(() -> gauge("seckill.fallback.mode") == 1); // set after the state

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
  @Tag("proof")
  @ParameterizedTest(name = "transferred {0}, with the orders {1}: {2} reserved")
  @CsvSource({
    "true, false, 10", // as gateways report, and not the 4 of the look
    "true, true, 0", // all are stored
    "false, false, 20" // more may have been promised
  })
  void anOldLookAtRedisDecidesNothing(boolean isTransferred, boolean areStored, long reserved) {
    OrderMessage seen = sale.admit(7, 4);
    awaitLook(4);
    allowLooks(false);
    try {
      OrderMessage[] all = {seen, sale.admit(8, 4), sale.admit(9, 2)};
      if (isTransferred) {
        fallback.enterWith(GATEWAY, admitted(sku, 1, 10), areStored ? all : new OrderMessage[0]);
      } else {
        fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
        fallback.enter();
        fallback.awaitState("MYSQL");
      }

      assertThat(consumer.bean(SaleObservations.class).of(sku).orElseThrow().admittedUnits())
          .as("units in the last look")
          .isEqualTo(4);
      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(reserved);
    } finally {
      allowLooks(true);
    }
  }

  /** Nobody sells the last of them until then. */
  @Test
  void aFallbackSwitchesManySalesWithFewStatements() {
    FallbackDatabase mysql = consumer.bean(FallbackDatabase.class);
    FallbackTable table = consumer.bean(FallbackTable.class);
    FallbackSales sales = consumer.bean(FallbackSales.class);
    GatewayTable gateways = consumer.bean(GatewayTable.class);
    SaleObservations looks = consumer.bean(SaleObservations.class);
    FallbackActivation activation = new FallbackActivation(table, sales, gateways, looks, mysql);
    long last = NEXT_SKU.addAndGet(300);
    mysql
        .transactions()
        .executeWithoutResult(
            tx -> {
              tx.setRollbackOnly();
              table.lock();
              openSales(mysql.jdbc(), last);
              long before = statements(mysql.jdbc());

              sales.enter();
              table.enter("tester");
              assertThat(activation.activate(gateways.overview())).isTrue();

              assertThat(statements(mysql.jdbc()) - before).isLessThan(40);
              assertThat(switched(mysql.jdbc(), last))
                  .hasSize(300)
                  .endsWith(
                      "ACTIVE 2, 0 settled, 0 0",
                      "ACTIVE 2, 0 settled, 7 0",
                      "ACTIVE 2, 0 settled, 9 1",
                      "ACTIVE 2, 0 settled, 0 0",
                      "ACTIVE 2, 10 settled, 8 0");
            });
  }

  /** 300 sales of Redis with nine units each; different units of the last four are known. */
  private static void openSales(JdbcClient jdbc, long last) {
    jdbc.sql(
            LongStream.rangeClosed(last - 299, last)
                .mapToObj(
                    id ->
                        "(%d, 'n', 1, 9, 9, 'LIMITED', 1, NOW(), NOW() + INTERVAL 1 DAY, 'OPEN', 1)"
                            .formatted(id))
                .collect(
                    Collectors.joining(
                        ",",
                        "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock,"
                            + " policy, limit_per_user, opens_at, closes_at, state, epoch) VALUES ",
                        "")))
        .update();
    jdbc.sql(
            "INSERT INTO order_total (sku_id, fate, orders, units) VALUES (:id, 'CONFIRMED', 7, 9),"
                + " (:id, 'PAID', 4, 5), (:id, 'REJECTED', 2, 2), (:id, 'ALIASES', 1, 1)")
        .param("id", last)
        .update();
    jdbc.sql(
            "INSERT INTO admitted_units (sku_id, epoch, units, unknown_orders, late_units) VALUES"
                + " (:id, 1, 20, 0, 0), (:id - 1, 9, 20, 0, 0), (:id - 2, 1, 0, 1, 0),"
                + " (:id - 3, 1, 5, 0, 2)")
        .param("id", last)
        .update();
  }

  /** That this connection has executed. */
  private static long statements(JdbcClient jdbc) {
    return jdbc.sql("SHOW SESSION STATUS LIKE 'Questions'")
        .query((row, number) -> row.getLong(2))
        .single();
  }

  private static List<String> switched(JdbcClient jdbc, long last) {
    return jdbc.sql(
            "SELECT CONCAT(fallback, ' ', epoch, ', ', settled, ' settled, ', reserved_units, ' ',"
                + " reserves_all) FROM products WHERE sku_id BETWEEN ? AND ? ORDER BY sku_id")
        .params(last - 299, last)
        .query(String.class)
        .list();
  }

  /** Gateways may still confirm in the fallback that has begun since. */
  @Test
  void gatewaysThatWereReadInAFormerFallbackActivateNothing() {
    FallbackDatabase mysql = consumer.bean(FallbackDatabase.class);
    FallbackTable table = consumer.bean(FallbackTable.class);
    FallbackSales sales = consumer.bean(FallbackSales.class);
    GatewayTable gateways = consumer.bean(GatewayTable.class);
    SaleObservations looks = consumer.bean(SaleObservations.class);
    FallbackActivation activation = new FallbackActivation(table, sales, gateways, looks, mysql);

    String phase =
        rolledBack(
            () -> {
              Row former = table.lock();
              sales.enter();
              table.enter("tester");
              Row entering =
                  new Row(
                      SalePhase.ENTERING,
                      former.term(),
                      former.startedBy(),
                      former.enteredAt(),
                      former.changedAt(),
                      former.failurePercent(),
                      former.failuresPerSecond());
              assertThat(activation.activate(new Overview(entering, new Gateways(List.of()))))
                  .isTrue();
              return mysql
                  .jdbc()
                  .sql("SELECT sale_phase FROM products WHERE sku_id = ?")
                  .param(sku)
                  .query(String.class)
                  .single();
            });

    assertThat(phase).isEqualTo("ENTERING");
  }

  @ParameterizedTest(name = "its row is locked: {0}")
  @ValueSource(booleans = {true, false})
  void aSaleThatCannotBeSwitchedDelaysNoOther(boolean isLocked) {
    AdmittedSale other =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    fallback.beatBeforeEntering(GATEWAY);
    long term = fallback.enter();
    Runnable end = isLocked ? consumer.lockProduct(sku)::close : refusedActivation();
    try {
      fallback.transfer(GATEWAY, term, "");

      eventually().until(() -> fallback.buy(other.sku, 7).equals("CONFIRMED"));
      assertThat(fallback.product(sku, "fallback")).isEqualTo("ENTERING");
    } finally {
      end.run();
    }
    fallback.awaitState("MYSQL");
    assertThat(fallback.buy(sku, 7)).isEqualTo("CONFIRMED");
    fallback.comeBack();
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + other.sku);
    other.forget();
  }

  /** Until what it returns is run, MySQL refuses every update that lets it decide the sale. */
  private Runnable refusedActivation() {
    consumer.asRoot(
        "CREATE TRIGGER refusal BEFORE UPDATE ON products FOR EACH ROW IF NEW.sku_id = "
            + sku
            + " AND NEW.fallback = 'ACTIVE' THEN SIGNAL SQLSTATE '45000'"
            + " SET MESSAGE_TEXT = 'refused'; END IF");
    return () -> consumer.asRoot("DROP TRIGGER refusal");
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

  /** The SKU's own row has no units. */
  @Test
  void theReservesOfAllShardsAreReleased() {
    long sharded = NEXT_SKU.incrementAndGet();
    List<Long> shards = Shards.ids(sharded, 2);
    put(sharded, Sales.product("LIMITED", 1, 200).replace("{", "{\"shards\":2,"));
    assertThat(preheat(sharded).status()).isEqualTo(200);
    FallbackDatabase mysql = consumer.bean(FallbackDatabase.class);
    String inFallback =
        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', reserved_units = 30"
            + " WHERE sku_id = ?";

    long released =
        mysql
            .transactions()
            .execute(
                tx -> {
                  tx.setRollbackOnly();
                  shards.forEach(id -> mysql.jdbc().sql(inFallback).param(id).update());
                  return consumer.bean(FallbackSales.class).release(sharded);
                });

    assertThat(released).isEqualTo(60);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sharded);
    shards.forEach(id -> execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + id));
  }

  @Test
  void aSaleWhoseOrdersNoGatewayHasForgottenIsSold() {
    AdmittedSale other =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    execute("UPDATE products SET last_seq = 5 WHERE sku_id = " + other.sku); // no look has them
    fallback.beatBeforeEntering(GATEWAY);
    long term = fallback.enter();

    String forgotten = "\"forgotten\":[{\"skuId\":%d,\"epoch\":1}]".formatted(other.sku);
    String end = forgotten + ",\"isLast\":true,\"isComplete\":true";
    assertThat(fallback.part(GATEWAY, term, "", end).status()).isEqualTo(204);
    fallback.awaitState("MYSQL");

    assertThat(fallback.number(other.sku, "reserved_units")).isEqualTo(20);
    assertThat(fallback.buy(other.sku, 7)).isEqualTo("BUSY");
    assertThat(fallback.buy(sku, 7)).isEqualTo("CONFIRMED");
    fallback.comeBack();
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + other.sku);
    other.forget();
  }

  /** Of nine units that Redis admitted, MySQL learns four in time and three late. */
  @Tag("proof")
  @ParameterizedTest(name = "complete: {0}; {1} reserved")
  @CsvSource({"true, 2, CONFIRMED", "false, 13, BUSY"})
  void aLateTransferFreesWhatIsReservedForUnknownOrders(
      boolean isComplete, long reserved, String next) {
    OrderMessage known = sale.admit(7, 4);
    OrderMessage late = sale.admit(8, 3);
    OrderMessage unanswered = sale.admit(9, 2);
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    fallback.beat(2, 0, "UNUSABLE", 0);
    long term = fallback.enter();
    fallback.transfer(GATEWAY, term, "", known);
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    assertThat(stock("change-01", 5).status()).isEqualTo(200);
    assertThat(buyFive(101)).isEqualTo("CONFIRMED");
    assertThat(fallback.buy(sku, 102)).as("only the reserve could serve it").isEqualTo("BUSY");

    fallback.beat(2, term, "UNUSABLE", 0);
    assertThat(fallback.transfer(2, term, admitted(sku, 1, 9), isComplete, late).status())
        .isEqualTo(204);

    eventually().until(() -> fallback.number(sku, "reserved_units") == reserved);
    assertThat(fallback.buy(sku, 102)).isEqualTo(next);
    broker.publish(unanswered);
    eventually().until(() -> ledger.status(unanswered).equals("CONFIRMED"));
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(reserved - 2);
    fallback.assertBalanced(sku);
  }

  /** Redis had lost it, and then promises two units under another epoch. */
  @ParameterizedTest(name = "it arrives {0}")
  @ValueSource(strings = {"BEFORE", "RECONCILED", "TRANSFERRED", "DELIVERED", "LATE"})
  void anOrderOfAFormerEpochTakesNothingFromTheReserve(String when) {
    OrderMessage former = sale.admit(7, 3);
    sale.forgetRecord(former);
    fallback.enterWith(GATEWAY, "");
    fallback.comeBack(); // without it
    assertThat(ledger.stock(sku)).isEqualTo(20);
    boolean isReconciled = when.equals("RECONCILED");
    if (when.equals("BEFORE") || isReconciled) {
      broker.publish(former);
      ledger.awaitOrders(sku, 1);
    }
    if (isReconciled) {
      fallback.reconcile(sku); // Redis counts its units as admitted then
    }
    String promised = admitted(sku, Long.parseLong(sale.field("epoch")), isReconciled ? 5 : 2);

    if (when.equals("LATE")) {
      fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
      fallback.beat(2, 0, "UNUSABLE", 0);
      long term = fallback.enter();
      fallback.transfer(GATEWAY, term, promised);
      fallback.awaitState("MYSQL");
      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(20);
      fallback.transfer(2, term, "", former);
    } else {
      fallback.enterWith(
          GATEWAY,
          promised,
          when.equals("TRANSFERRED") ? new OrderMessage[] {former} : new OrderMessage[0]);
    }
    if (when.equals("DELIVERED")) {
      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(2);
      broker.publish(former);
      ledger.awaitOrders(sku, 1);
    }

    eventually() // its storing and the end of the doubt are two steps
        .untilAsserted(
            () ->
                assertThat(fallback.product(sku, "CONCAT_WS(' ', stock, reserved_units)"))
                    .isEqualTo("17 2"));
    fallback.assertBalanced(sku);
  }

  /** The ids of its orders are made by the clock of order-consumer. */
  @Test
  void aLateTransferCountsWhatMySqlSoldAlsoWhenItsClockIsAhead() {
    OrderMessage late = sale.admit(8, 3);
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    fallback.beat(2, 0, "UNUSABLE", 0);
    long term = fallback.enter();
    fallback.transfer(GATEWAY, term, "");
    fallback.awaitState("MYSQL");
    assertThat(stock("change-01", 5).status()).isEqualTo(200);
    assertThat(buyFive(101)).isEqualTo("CONFIRMED");
    execute("UPDATE fallback SET entered_at = '" + entered(0, Duration.ofHours(-1)) + "'");
    setBackIds(Duration.ofMinutes(30));

    fallback.transfer(2, term, admitted(sku, 1, 5), late);

    eventually().until(() -> fallback.number(sku, "reserved_units") < 17);
    assertThat(fallback.number(sku, "reserved_units")).as("promised units").isEqualTo(2);
  }

  /**
   * So that no more than its orders are counted, however long ago the last block was taken, and
   * each of them: the next block may be taken by a process whose clock is behind.
   */
  @ParameterizedTest(name = "the last block of ids {0} min ago, the process {1} min: {2} min")
  @CsvSource({"50000, 0, 0", "0, 60, 0", "50000, 60, 60", "120, 60, 60"})
  void beginsByTheTimeOfTheNextIds(int block, int process, int expected) {
    long now = System.currentTimeMillis();

    String entered = entered(now - block * 60_000L, Duration.ofMinutes(-process));

    long seconds =
        consumer.number("SELECT TIMESTAMPDIFF(SECOND, '" + entered + "', UTC_TIMESTAMP())");
    assertThat(Math.round(seconds / 60.0)).isEqualTo(expected);
  }

  /** When a fallback would begin, by a process whose clock differs so much from MySQL's. */
  private static String entered(long nextMs, Duration difference) {
    FallbackDatabase mysql = consumer.bean(FallbackDatabase.class);
    FallbackTable table = new FallbackTable(mysql, Clock.offset(Clock.systemUTC(), difference));
    return rolledBack(
        () -> {
          table.lock();
          table.move(SalePhase.REDIS);
          mysql.jdbc().sql("UPDATE order_id_block SET next_ms = ?").param(nextMs).update();
          table.enter("tester");
          String areLater =
              "SELECT b.next_ms >= UNIX_TIMESTAMP(f.entered_at) * 1000"
                  + " FROM order_id_block b JOIN fallback f";
          assertThat(mysql.jdbc().sql(areLater).query(Boolean.class).single())
              .as("the next ids are later")
              .isTrue();
          return mysql
              .jdbc()
              .sql("SELECT CAST(entered_at AS CHAR) FROM fallback")
              .query(String.class)
              .single();
        });
  }

  private static <T> T rolledBack(Supplier<T> work) {
    return consumer
        .bean(FallbackDatabase.class)
        .transactions()
        .execute(
            tx -> {
              tx.setRollbackOnly();
              return work.get();
            });
  }

  /** MySQL may have been restored from a backup. */
  @Test
  void aFallbackHasAHigherTermThanAnyGatewayHasSeen() {
    long seen = term() + 100;
    fallback.beat(GATEWAY, 0, "USABLE", 60_000);
    String heard = "UPDATE gateway_node SET term = ?";

    long term =
        rolledBack(
            () -> {
              consumer.bean(FallbackDatabase.class).jdbc().sql(heard).param(seen).update();
              return consumer.bean(FallbackTable.class).enter("tester");
            });

    assertThat(term).isEqualTo(seen + 1);
  }

  /** A gateway that ran while MySQL was restored confirms nothing under a former term. */
  @ParameterizedTest(name = "while MySQL decides: {0}")
  @ValueSource(booleans = {false, true})
  void theTermIsNoLowerThanAGatewayHasSeen(boolean isInFallback) {
    if (isInFallback) {
      fallback.enterWith(GATEWAY, "");
    }
    String state = fallback.state();
    long seen = term() + 100;

    JsonNode answer = fallback.beat(2, seen, "USABLE", 60_000);

    assertThat(answer.path("term").longValue()).isEqualTo(seen);
    assertThat(fallback.beat(GATEWAY, 0, "USABLE", 60_000).path("term").longValue())
        .isEqualTo(seen);
    assertThat(term()).isEqualTo(seen);
    assertThat(fallback.state()).isEqualTo(state);
    assertThat(isInFallback ? fallback.buy(sku, 7) : "CONFIRMED").isEqualTo("CONFIRMED");
  }

  /** The next fallback would begin above it, and gateways could not report that one. */
  @ParameterizedTest
  @ValueSource(longs = {1_001, OrderMessage.MAX_COUNT, Long.MAX_VALUE / 2})
  void noTermIsTakenThatMySqlCannotHaveLost(long ahead) {
    long before = term();
    String path = "/internal/v1/gateways/" + "0".repeat(31) + "7";
    String body =
        """
        {"name":"gateway","fallback":"manual","term":%d,"redis":"USABLE","forMs":0,
         "breaker":"OPEN","failurePercent":0,"failuresPerSecond":0}
        """;

    Answer answer = consumer.api().put(path, body.formatted(before + ahead));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.text()).contains("term");
    assertThat(term()).isEqualTo(before);
    assertThat(ledger.number("SELECT COUNT(*) FROM gateway_node")).isZero();
  }

  private static long term() {
    return fallback.view().path("term").longValue();
  }

  @Test
  void aReportOfAdmittedUnitsLeavesOrdersUnknown() {
    AdmittedUnitsTable admissions = consumer.bean(AdmittedUnitsTable.class);

    Set<Long> unknown =
        rolledBack(
            () -> {
              admissions.moreIsUnknown(sku, 1);
              admissions.admitted(sku, 1, 5);
              return admissions.withUnknownOrders();
            });

    assertThat(unknown).contains(sku);
  }

  /** What a process read last may lack it. */
  @ParameterizedTest(name = "Redis has its data: {0}; {1} reserved")
  @CsvSource({"false, 16", "true, 5"})
  void aGatewayThatFallsSilentWhileMySqlDecidesLeavesWhatRedisHasPromised(
      boolean isIntact, long reserved) {
    String kept =
        "SELECT units + 100 * unknown_orders FROM admitted_units WHERE epoch = 1 AND sku_id = "
            + sku;
    beginWithUnknownOrders();
    if (!isIntact) {
      sale.forget();
      awaitLook(0);
    }

    fallsSilent(2, 36);
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isOne());
    tick();

    assertThat(fallback.number(sku, "reserved_units")).as("promised units").isEqualTo(reserved);
    assertThat(ledger.number(kept)).isEqualTo(isIntact ? 9 : 109);
  }

  /** It may lack orders that the broker has, whose numbers nobody else has seen. */
  @Test
  void aLookAtAServerThatIsNotProvenLeavesOrdersUnknown() {
    String kept =
        "SELECT units + 100 * unknown_orders FROM admitted_units WHERE epoch = 1 AND sku_id = "
            + sku;
    eventually().until(() -> ledger.number("SELECT COUNT(*) FROM redis_server") == 16);
    beginWithUnknownOrders();
    consumer.asRoot(
        "CREATE TRIGGER refusal BEFORE INSERT ON redis_server FOR EACH ROW"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not proven yet'");
    try {
      execute(
          "UPDATE redis_server SET replication_id = 'another' WHERE partition_no = MOD(%d, 16)"
              .formatted(sku));
      sale.admit(10, 1);
      awaitLook(10);
      sale.admit(11, 1);
      awaitLook(11); // one that began before has ended

      fallsSilent(2, 36);
      eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isOne());
      tick();

      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
      assertThat(ledger.number(kept)).isEqualTo(109);
    } finally {
      consumer.asRoot("DROP TRIGGER refusal");
    }
    eventually("the proof").until(() -> ledger.number(kept) == 11);
  }

  /** Nothing is read of it in Redis; its closing time may be put off, and a process starts anew. */
  @Test
  void aSaleThatIsOverKeepsTheReserveOfAGatewayThatFallsSilent() {
    beginWithUnknownOrders();
    sale.forget();
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + sku);
    SaleObservations looks = consumer.bean(SaleObservations.class);
    eventually().until(() -> looks.of(sku).isEmpty()); // one that began before has ended

    fallsSilent(2, 36);
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isOne());
    tick();

    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    extend();
    awaitLook(0);
    GatewayTable gateways = consumer.bean(GatewayTable.class);
    new FallbackActivation(
            consumer.bean(FallbackTable.class),
            consumer.bean(FallbackSales.class),
            gateways,
            looks,
            consumer.bean(FallbackDatabase.class))
        .reduceReserves(gateways.overview());
    assertThat(fallback.number(sku, "reserved_units")).as("extended").isEqualTo(16);
    assertThat(consumer.bean(FallbackSales.class).allReserved())
        .as("to be changed by each step")
        .doesNotContain(sku);
  }

  /** The same process has freed all others before. */
  @Test
  void aSaleThatWasOverIsFreedOnceItIsExtended() {
    beginWithUnknownOrders();
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + sku);

    assertThat(fallback.end(2).status()).isEqualTo(204); // it has transferred the rest
    tick();
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    extend();
    tick();

    assertThat(fallback.number(sku, "reserved_units")).as("promised units").isEqualTo(5);
    assertThat(fallback.buy(sku, 101)).isEqualTo("CONFIRMED");
  }

  private void extend() {
    execute(
        "UPDATE products SET closes_at = UTC_TIMESTAMP(3) + INTERVAL 1 DAY WHERE sku_id = " + sku);
  }

  /** A process without fallback removes gateways too, and reads nothing of Redis. */
  @Tag("proof")
  @Test
  void aGatewayThatIsRemovedWithoutALookLeavesItsReserve() {
    SaleObservations off = observations(FallbackMode.OFF, consumer.redis());
    beginWithUnknownOrders();
    allowLooks(false);
    try {
      SaleObservations on = consumer.bean(SaleObservations.class);
      eventually().until(() -> !on.isRedisReached());
      fallsSilent(2, 61);
      off.round();
      assertThat(fallback.view().path("gateways").size()).isOne();
      tick();

      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    } finally {
      allowLooks(true);
    }
  }

  /** A sale that is over during a fallback may be extended. */
  @ParameterizedTest(name = "in a fallback, and over: {0}")
  @ValueSource(booleans = {false, true})
  void aGatewayThatIsRemovedWithoutALookLeavesUnknownOrders(boolean isOver) {
    SaleObservations off = observations(FallbackMode.OFF, consumer.redis());
    JdbcClient mysql = consumer.bean(FallbackDatabase.class).jdbc();
    fallback.beat(GATEWAY, 0, "USABLE", 0);

    String kept =
        rolledBack(
            () -> {
              mysql.sql("UPDATE gateway_node SET heard_at = NOW(6) - INTERVAL 61 SECOND").update();
              if (isOver) {
                mysql
                    .sql(
                        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', epoch = 2,"
                            + " closes_at = UTC_TIMESTAMP(3) WHERE sku_id = ?")
                    .param(sku)
                    .update();
              }
              off.round();
              return mysql
                  .sql(
                      "SELECT CONCAT_WS(' ', epoch, units, unknown_orders,"
                          + " (SELECT COUNT(*) FROM gateway_node)) FROM admitted_units"
                          + " WHERE sku_id = ?")
                  .param(sku)
                  .query(String.class)
                  .optional()
                  .orElse("none");
            });

    assertThat(kept).as("epoch, units, unknown orders, gateways").isEqualTo("1 0 1 0");
  }

  /** Otherwise each of the service's looks fails, and the last one stays. */
  private static void allowLooks(boolean isAllowed) {
    String rule = (isAllowed ? "+" : "-") + "hgetall";
    consumer
        .redis()
        .executeCommand(new CommandArguments(Command.ACL).addObjects("SETUSER", "default", rule));
  }

  @Test
  void theLooksGoOnWhereTheStockOfASaleIsSomethingElse() {
    consumer.redis().sadd(RedisKeys.stock(1), "foreign");
    try {
      sale.admit(7, 4);
      awaitLook(4);
    } finally {
      consumer.redis().del(RedisKeys.stock(1));
    }
  }

  /** The gateway that dies as well may have promised orders of each. */
  @ChildProcessesOnly
  @Test
  void aDeadNodeOfAClusterKeepsNoSaleOfAnotherNodeFromBeingSeen() {
    try (RedisCluster cluster = RedisCluster.start();
        UnifiedJedis redis = RedisClients.open(settings(cluster), "test")) {
      RedisServer node = cluster.primaryOf(RedisKeys.sku(sku));
      long next = NEXT_SKU.incrementAndGet();
      while (cluster.primaryOf(RedisKeys.sku(next)).equals(node)) {
        next = NEXT_SKU.incrementAndGet();
      }
      AdmittedSale other = new AdmittedSale(consumer, next, PurchasePolicy.LIMITED, 5, 20);
      SaleObservations looks =
          observations(
              FallbackMode.AUTOMATIC, withoutServers(), redis, consumer.bean(GatewayTable.class));
      admitAlsoIn(redis, sale);
      admitAlsoIn(redis, other);
      looks.round();
      admitAlsoIn(redis, other);
      node.kill();
      allowLooks(false);
      SaleObservations ofService = consumer.bean(SaleObservations.class);
      eventually().until(() -> !ofService.isRedisReached()); // and no round is under way
      fallback.beat(2, 0, "USABLE", 0);
      fallsSilent(2, 36);

      assertThatThrownBy(looks::round).as("reported").isInstanceOf(JedisException.class);

      assertThat(looks.isRedisReached()).isTrue();
      assertThat(looks.of(other.sku).orElseThrow().admittedUnits()).isEqualTo(8);
      assertThat(looks.of(sku).orElseThrow().admittedUnits()).as("remembered").isEqualTo(4);
      assertThat(fallback.view().path("gateways").size()).isZero();
      String kept =
          "SELECT units + 100 * unknown_orders FROM admitted_units WHERE epoch = 1 AND sku_id = ";
      assertThat(ledger.number(kept + other.sku)).isEqualTo(8);
      assertThat(ledger.number(kept + sku)).isEqualTo(100);
      execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + other.sku);
      other.forget();
    } finally {
      allowLooks(true);
    }
  }

  /** MySQL has the server of the other tests. */
  private static FallbackSales withoutServers() {
    return new FallbackSales(consumer.bean(FallbackDatabase.class)) {
      @Override
      List<ExpectedSale> ofRedis() {
        return super.ofRedis().stream()
            .map(one -> new ExpectedSale(one.id(), one.epoch(), one.lastSeq(), one.changeSeq(), ""))
            .toList();
      }
    };
  }

  private static RedisSettings settings(RedisCluster cluster) {
    return new RedisSettings(
        RedisSettings.Mode.CLUSTER,
        "redis://127.0.0.1:6379",
        cluster.nodes(),
        null,
        2,
        Duration.ofSeconds(10),
        null);
  }

  private static void admitAlsoIn(UnifiedJedis redis, AdmittedSale sale) {
    sale.admit(7, 4);
    String key = RedisKeys.sku(sale.sku);
    redis.hset(key, consumer.redis().hgetAll(key));
  }

  private static SaleObservations observations(FallbackMode mode, UnifiedJedis redis) {
    return observations(mode, redis, consumer.bean(GatewayTable.class));
  }

  private static SaleObservations observations(
      FallbackMode mode, UnifiedJedis redis, GatewayTable gateways) {
    return observations(mode, consumer.bean(FallbackSales.class), redis, gateways);
  }

  private static SaleObservations observations(
      FallbackMode mode, FallbackSales sales, UnifiedJedis redis, GatewayTable gateways) {
    return new SaleObservations(
        new FallbackProperties(mode),
        sales,
        consumer.bean(AdmittedUnitsTable.class),
        gateways,
        redis);
  }

  /**
   * Its heartbeats have never ceased, and it would not transfer again what MySQL then waits for.
   */
  @ParameterizedTest
  @EnumSource(
      value = FallbackMode.class,
      names = {"AUTOMATIC", "OFF"})
  void aGatewayIsNotForgottenWhenMySqlsClockJumpsAhead(FallbackMode mode) {
    AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
    GatewayTable jumping =
        new GatewayTable(consumer.bean(FallbackDatabase.class)) {
          @Override
          Instant now() {
            return super.now().plus(ahead.get());
          }
        };
    SaleObservations looks = observations(mode, consumer.redis(), jumping);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    fallback.gatewaysStayAlive();
    looks.round();

    ahead.set(Duration.ofHours(1));
    looks.round();

    assertThat(fallback.view().path("gateways").size()).isOne();
  }

  /** It is begun again before the sale has returned from it. */
  @Test
  void aLateTransferInTheNextFallbackCountsWhatMySqlSoldInTheOneBefore() {
    beginWithUnknownOrders();
    stock("change-01", 5);
    assertThat(buyFive(101)).isEqualTo("CONFIRMED");
    longAgo();
    try {
      leaveWithoutReturning();
      long term = fallback.enter();
      fallback.transfer(GATEWAY, term, "");
      fallback.transfer(2, term, "");
      fallback.awaitState("MYSQL");
      tick();

      assertThat(fallback.number(sku, "reserved_units")).as("promised units").isEqualTo(5);
    } finally {
      consumer.redis().del(RedisKeys.stock(sku));
    }
  }

  /** What keeps it from returning, such as a broker that is away, may last. */
  @Test
  void aGatewayThatFallsSilentWhileTheSaleIsToReturnLeavesWhatRedisHasPromised() {
    beginWithUnknownOrders();
    try {
      leaveWithoutReturning();
      fallsSilent(2, 36);

      eventually().until(() -> fallback.number(sku, "reserved_units") == 5);
      assertThat(fallback.state()).isEqualTo("RETURNING");
      assertThat(buyFive(101)).isEqualTo("CONFIRMED");
    } finally {
      consumer.redis().del(RedisKeys.stock(sku));
    }
    fallback.awaitState("REDIS");
  }

  /** Both gateways use Redis again; the sale cannot return before its stock there is removed. */
  private void leaveWithoutReturning() {
    consumer.redis().del(RedisKeys.stock(sku));
    consumer.redis().sadd(RedisKeys.stock(sku), "foreign");
    fallback.beat(GATEWAY, 1, "USABLE", 60_000);
    fallback.beat(2, 1, "USABLE", 60_000);
    fallback.gatewaysStayAlive();
    fallback.leaveSoon();
  }

  /** Gateway 2 has forgotten orders of the nine units; four are stored. */
  private void beginWithUnknownOrders() {
    OrderMessage known = sale.admit(7, 4);
    sale.admit(8, 4);
    sale.admit(9, 1);
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    fallback.beat(2, 0, "UNUSABLE", 0);
    fallback.gatewaysStayAlive();
    long term = fallback.enter();
    fallback.transfer(GATEWAY, term, admitted(sku, 1, 9), known);
    assertThat(fallback.transfer(2, term, "", false).status()).isEqualTo(204);
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
  }

  private static void fallsSilent(int gateway, int seconds) {
    execute(
        "UPDATE gateway_node SET heard_at = NOW(6) - INTERVAL %d SECOND WHERE token = '%s'"
            .formatted(seconds, FallbackFixture.token(gateway)));
  }

  /** The fallback began ten minutes earlier, and so did MySQL's orders of the sale. */
  private void longAgo() {
    execute("UPDATE fallback SET entered_at = entered_at - INTERVAL 10 MINUTE");
    setBackIds(Duration.ofMinutes(10));
  }

  /** The ids of MySQL's orders of the sale are so much older. */
  private void setBackIds(Duration time) {
    long now = System.currentTimeMillis();
    long ids =
        OrderId.of(now, 0, 0, 0).value() - OrderId.of(now - time.toMillis(), 0, 0, 0).value();
    execute(
        "UPDATE orders SET order_id = order_id - " + ids + " WHERE epoch = 2 AND sku_id = " + sku);
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
    awaitLook(4); // a round under way may have looked before
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

  @Tag("proof")
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
    whileBeating("UNUSABLE", 1_000, "ENTERING", "MYSQL");
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("automatic");
    fallback.awaitState("MYSQL");
    assertThat(counter("seckill.fallback.entered")).isEqualTo(entered + 1);
    long term = fallback.view().path("term").longValue();
    fallback.transfer(1, term, "");
    fallback.transfer(2, term, "");

    fallback.beat(1, 1, "USABLE", 9_000);
    fallback.gatewaysStayAlive();
    fallback.beat(2, 1, "USABLE", 10_000);
    fallback.gatewaysStayAlive();
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
    fallback.gatewaysStayAlive();
    fallback.beat(2, 0, "UNUSABLE", 5_000);
    fallback.gatewaysStayAlive();

    tick();
    Answer refused = consumer.api().post(FallbackFixture.FALLBACK + "/enter", "{}");

    assertThat(fallback.state()).isEqualTo("REDIS");
    assertThat(refused.code()).isEqualTo("REFUSED");
    assertThat(refused.text()).contains("gateway-1:8080");
  }

  @Test
  void isBegunOnceAndEndedByAnOperator() {
    assertThat(fallback.leave().code()).isEqualTo("REFUSED");

    long term = fallback.enter();
    Answer again = consumer.api().post(FallbackFixture.FALLBACK + "/enter", "{}");
    assertThat(again.status()).isEqualTo(409);
    assertThat(again.code()).isEqualTo("REFUSED");
    fallback.awaitState("MYSQL");
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("tester");
    assertThat(fallback.number(sku, "epoch")).isEqualTo(2);

    fallback.beat(1, 1, "UNUSABLE", 0);
    fallback.gatewaysStayAlive();
    assertThat(fallback.leave().code()).isEqualTo("REFUSED");
    fallback.beat(1, 1, "USABLE", 60_000);
    fallback.gatewaysStayAlive();
    tick();
    assertThat(fallback.state()).isEqualTo("MYSQL");
    assertThat(fallback.leave().text()).contains("gateway-1:8080 has not transferred");
    fallback.transfer(1, term, "");
    fallback.leaveSoon();
    fallback.awaitState("REDIS");
  }

  /** MySQL's clock is set back by an hour just after its last heartbeat. */
  @Test
  void aDeadGatewayDoesNotCountUntilTheClockHasCaughtUp() {
    fallback.beat(2, 0, "USABLE", 60_000);
    fallsSilent(2, -3_600);

    eventually()
        .untilAsserted(
            () -> {
              fallback.beat(GATEWAY, 0, "UNUSABLE", 5_000);
              assertThat(fallback.state()).isNotEqualTo("REDIS");
            });
  }

  @Test
  void operatorsSeeSomeOfMoreSalesAndFirstThoseWithAReserve() {
    long last = NEXT_SKU.addAndGet(250);
    execute(
        LongStream.rangeClosed(last - 249, last)
            .mapToObj(
                id ->
                    "(%d, 'n', 1, 9, 9, 'LIMITED', 1, NOW(), NOW(), 'CLOSED', 'ACTIVE', %d)"
                        .formatted(id, id > last - 2 ? 4 : 0))
            .collect(
                Collectors.joining(
                    ",",
                    "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                        + " limit_per_user, opens_at, closes_at, state, fallback, reserved_units)"
                        + " VALUES ",
                    "")));
    try {
      JsonNode view = fallback.view();

      assertThat(view.path("sales").size()).isEqualTo(200);
      assertThat(view.path("sales").path(0).path("skuId").longValue()).isEqualTo(last - 1);
      assertThat(view.path("sales").path(2).path("skuId").longValue()).isEqualTo(last - 249);
      assertThat(view.path("salesInFallback").longValue()).isEqualTo(250);
      assertThat(view.path("reservedUnits").longValue()).isEqualTo(8);
    } finally {
      execute(
          "DELETE FROM products WHERE sku_id > %d AND sku_id <= %d".formatted(last - 250, last));
    }
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

  /** Redis would have it alone, and no fallback would begin for it any more. */
  @Test
  void aNewSaleOfRedisIsPreheatedOnlyAfterTheFallback() {
    long created = NEXT_SKU.incrementAndGet();
    long sharded = NEXT_SKU.incrementAndGet();
    long strong = NEXT_SKU.incrementAndGet();
    put(created, Sales.product("LIMITED", 1, 9));
    put(sharded, Sales.product("LIMITED", 1, 203).replace("{", "{\"shards\":4,"));
    put(strong, Sales.strongProduct("LIMITED", 1, 9));
    fallback.enterWith(GATEWAY, "");

    assertThat(preheat(created).code()).isEqualTo("REFUSED");
    assertThat(preheat(sharded).code()).isEqualTo("REFUSED");
    assertThat(preheat(strong).status()).isEqualTo(200);
    assertThat(fallback.product(sharded, "state")).isEqualTo("NEW");

    fallback.comeBack();
    assertThat(preheat(created).status()).isEqualTo(200);
    execute(
        "UPDATE products SET state = 'CLOSED' WHERE sku_id IN (%d, %d)".formatted(created, strong));
  }

  /** Redis, which is away, would have it alone. */
  @ParameterizedTest(name = "by itself: {0}")
  @ValueSource(booleans = {true, false})
  void aSaleThatIsExtendedDuringTheFallbackEntersIt(boolean isByItself) {
    AdmittedSale over =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + over.sku);
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    String enter = FallbackFixture.FALLBACK + "/enter";
    assertThat(consumer.api().post(enter, "{}").code()).isEqualTo("REFUSED");
    assertThat(fallback.view().path("salesOfRedis").longValue()).isZero();

    execute("UPDATE products SET closes_at = '2037-01-01' WHERE sku_id = " + over.sku);
    assertThat(fallback.view().path("salesOfRedis").longValue()).isOne();
    if (isByItself) {
      eventually()
          .pollInterval(Duration.ofMillis(50))
          .until(
              () -> {
                fallback.beat(1, 0, "UNUSABLE", 1_000);
                return !fallback.product(over.sku, "fallback").equals("NO");
              });
      execute("DELETE FROM gateway_node");
    } else {
      fallback.enter();
    }
    assertThat(fallback.buy(sku, 7)).as("in it before").isEqualTo("CONFIRMED");
    fallback.awaitState("MYSQL");

    eventually().until(() -> fallback.buy(over.sku, 7).equals("CONFIRMED"));
    assertThat(fallback.number(sku, "epoch")).isEqualTo(2);
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("tester");
    fallback.comeBack();
    fallback.assertBalanced(over.sku);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + over.sku);
    over.forget();
  }

  /** Redis, which has lost it, would have it alone, and sell what gateways have promised. */
  @Test
  void aSaleThatIsExtendedDuringTheFallbackIsRebuiltOnlyAfterIt() {
    AdmittedSale over =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + over.sku);
    fallback.enterWith(GATEWAY, "");
    execute("UPDATE products SET closes_at = '2037-01-01' WHERE sku_id = " + over.sku);
    over.forget();

    assertThat(rebuild(over.sku)).contains("UNPROVEN").contains("until the fallback ends");

    assertThat(fallback.product(over.sku, "CONCAT_WS(' ', sale_phase, epoch)"))
        .isEqualTo("REDIS 1");
    assertThat(consumer.redis().exists(RedisKeys.sku(over.sku))).isFalse();
    fallback.comeBack();
    assertThat(rebuild(over.sku)).contains("REBUILT");
    fallback.assertStoresAgree(over.sku);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + over.sku);
    over.forget();
  }

  private static String rebuild(long sku) {
    return consumer
        .api()
        .post("/internal/v1/skus/" + sku + "/reconciliation", "{\"dryRun\":false}")
        .text();
  }

  private static void put(long sku, String product) {
    assertThat(consumer.api().put("/internal/v1/skus/" + sku, product).status()).isEqualTo(201);
  }

  private static Answer preheat(long sku) {
    return consumer.api().post("/internal/v1/skus/" + sku + "/preheat");
  }

  /** No shard has them, and nobody buys of the SKU itself. */
  @Tag("proof")
  @Test
  void unitsThatAreAddedToASkuWithShardsAreSold() {
    long sharded = NEXT_SKU.incrementAndGet();
    String product = "/internal/v1/skus/" + sharded;
    List<Long> shards = Shards.ids(sharded, 4);
    consumer.api().put(product, Sales.product("LIMITED", 1, 203).replace("{", "{\"shards\":4,"));
    eventually().until(() -> consumer.api().post(product + "/preheat").status() == 200);
    eventually().until(() -> consumer.api().post(product + "/open").status() == 200);
    fallback.enterWith(GATEWAY, "");
    assertThat(new Sales(consumer).putAsShown(sharded).status()).isEqualTo(200);

    InternalApi change = consumer.api().with("Idempotency-Key", "change-01");
    String ten = "{\"delta\":10,\"reason\":\"a test\"}";
    eventually().until(() -> change.post(product + "/stock", ten).status() == 200);

    eventually()
        .until(
            () -> {
              consumer.sweep("stockChangeSweeper"); // also of a move that the fallback interrupts
              return ledger.stock(sharded) == 0;
            });
    assertThat(shards).extracting(ledger::stock).allMatch(stock -> stock > 50);
    assertThat(shards.stream().mapToLong(ledger::stock).sum()).isEqualTo(213);
    fallback.assertBalanced(sharded);
    assertThat(fallback.buy(shards.get(0), 7)).isEqualTo("CONFIRMED");
    fallback.comeBack();
    fallback.assertBalanced(sharded);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sharded);
    shards.forEach(id -> execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + id));
  }

  /**
   * A take and a gift that Redis has made, and one of each that it has not. They are finished while
   * MySQL decides, or when Redis does again, which then has what MySQL had.
   */
  @Tag("proof")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void movesThatAFallbackInterruptsHappenOnce(boolean whileMySqlDecides) {
    long sharded = NEXT_SKU.incrementAndGet();
    String product = "/internal/v1/skus/" + sharded;
    List<Long> shards = Shards.ids(sharded, 2);
    put(sharded, Sales.product("LIMITED", 1, 200).replace("{", "{\"shards\":2,"));
    consumer.api().post(product + "/preheat");
    eventually().until(() -> consumer.api().post(product + "/open").status() == 200);
    long giver = shards.get(0);
    long taker = shards.get(1);
    move(giver, "taken", -30, "PENDING", true);
    move(giver, "not-taken", -10, "PENDING", false);
    execute("UPDATE products SET stock = stock - 20 WHERE sku_id = " + giver); // given to the other
    execute("UPDATE products SET initial_stock = initial_stock - 20 WHERE sku_id = " + giver);
    consumer.redis().decrBy(RedisKeys.stock(giver), 20);
    execute("UPDATE products SET stock = stock + 20 WHERE sku_id = " + taker);
    execute("UPDATE products SET initial_stock = initial_stock + 20 WHERE sku_id = " + taker);
    move(taker, "given", 12, "MYSQL_DONE", true);
    move(taker, "not-given", 8, "MYSQL_DONE", false);
    String units = // read at once: the mover may be at work
        "SELECT SUM(stock) FROM products WHERE sku_id IN (%d, %d, %d)"
            .formatted(sharded, giver, taker);

    fallback.enterWith(GATEWAY, "");
    if (whileMySqlDecides) {
      finishMoves(shards);
      assertThat(ledger.number(units)).isEqualTo(200);
      fallback.assertBalanced(sharded);
    }
    fallback.comeBack();
    finishMoves(shards);

    fallback.assertBalanced(sharded);
    for (long shard : shards) {
      eventually()
          .until(
              () -> consumer.redis().get(RedisKeys.stock(shard)).equals("" + ledger.stock(shard)));
    }
    assertThat(ledger.number(units)).isEqualTo(200);
    assertThat(ledger.stock(taker)).isGreaterThanOrEqualTo(120);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sharded);
    shards.forEach(id -> execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + id));
  }

  /** Its process has ended. */
  private static void move(long shard, String id, long delta, String state, boolean inRedis) {
    if (inRedis) {
      consumer.redis().incrBy(RedisKeys.stock(shard), delta);
      consumer.redis().hset(RedisKeys.stockChanges(shard), id, "1:" + delta + ":A");
    }
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, ?, ?, '', '', 1, ?)",
        shard,
        id,
        delta,
        state);
  }

  private static void finishMoves(List<Long> shards) {
    shards.forEach(
        id ->
            execute(
                "UPDATE stock_change SET updated_at = NOW(6) - INTERVAL 1 HOUR WHERE sku_id = "
                    + id));
    eventually()
        .until(
            () -> {
              consumer.sweep("stockChangeSweeper");
              return ledger.number(
                      "SELECT COUNT(*) FROM stock_change WHERE state NOT IN ('DONE', 'REFUSED')"
                          + " AND sku_id IN (%d, %d)".formatted(shards.get(0), shards.get(1)))
                  == 0;
            });
  }

  private static void tick() {
    consumer.bean(FallbackControl.class).tick();
  }

  private void awaitLook(long admittedUnits) {
    awaitLook(sku, admittedUnits);
  }

  private static void awaitLook(long sku, long admittedUnits) {
    SaleObservations looks = consumer.bean(SaleObservations.class);
    eventually()
        .until(() -> looks.of(sku).filter(l -> l.admittedUnits() == admittedUnits).isPresent());
  }

  private static long epochOf(JsonNode bought) {
    return ledger.number(
        "SELECT epoch FROM orders WHERE order_id = " + bought.path("orderId").asString());
  }

  private static double gauge(String name) {
    return consumer.gauge(name);
  }

  private static double counter(String name) {
    return consumer.counter(name);
  }
}
