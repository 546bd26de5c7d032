package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.JsonNode;

/** What gateways have promised is in MySQL before MySQL sells. */
class FallbackEntryIT extends SaleInFallback {

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

  private static long epochOf(JsonNode bought) {
    return ledger.number(
        "SELECT epoch FROM orders WHERE order_id = " + bought.path("orderId").asString());
  }
}
