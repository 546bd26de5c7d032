package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Units that MySQL keeps for orders that only Redis has. */
class FallbackReservesIT extends SaleInFallback {

  @Test
  void unitsThatRedisHasAdmittedAreKeptForTheirOrders() {
    OrderMessage first = sale.admit(7, 3);
    OrderMessage second = sale.admit(8, 2);
    fallback.enterWith(GATEWAY, admitted(sku, 1, 5));
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(5);
    eventually().until(() -> consumer.gauge("seckill.fallback.mode") == 1); // set after the state

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
}
