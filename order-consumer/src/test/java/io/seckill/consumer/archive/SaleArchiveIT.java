package io.seckill.consumer.archive;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StrongSales;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.SaleInFlight;
import io.seckill.consumer.testing.Sales;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import io.seckill.testing.TestServers;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;

/** A finished sale leaves Redis and the tables of running sales, and stays what it was. */
@ExtendWith(TestServers.class)
class SaleArchiveIT extends FinishedSales {

  @Test
  void movesEverythingAndChangesNothingThatAnyoneIsTold() throws Exception {
    SaleInFlight sale = SaleInFlight.open(sku, 100, consumer, flood);
    Answer added = consumer.api().changeStock(sku, "archive-" + sku, 5);
    assertThat(added.text("state")).as(added.text()).isEqualTo("DONE");
    OrderMessage paid = sale.order(7, 3);
    OrderMessage cancelled = sale.order(8, 2);
    sale.admit(paid, cancelled);
    sale.claim(2);
    sale.publish(paid, cancelled);
    eventually().until(() -> rows("orders") == 2);
    assertThat(consumer.api().pay(paid.orderId(), 7).status()).isEqualTo(200);
    assertThat(consumer.api().cancel(cancelled.orderId(), 8).status()).isEqualTo(200);
    close();
    String repair = "/internal/v1/skus/" + sku + "/reconciliation"; // writes the orders' records
    assertThat(consumer.api().post(repair, "{\"dryRun\":false}").status()).isEqualTo(200);
    JsonNode before = // the last one read may be given again
        eventually()
            .until(
                this::ledger,
                read ->
                    read.at("/units/confirmed").longValue() == 0
                        && read.at("/units/compensating").longValue() == 0);
    assertThat(audit().path("differences").toString()).isEqualTo("[]");

    begin(sku);
    waitsForGateways();
    finish();

    assertThat(archive().text("phase")).isEqualTo("DONE");
    assertThat(archive().number("orders")).isEqualTo(2);
    assertThat(consumer.redis().keys("*:" + sku + "*")).isEmpty();
    assertThat(consumer.redis().smembers(RedisKeys.skus(Partition.ofSku(sku))))
        .doesNotContain(Long.toString(sku));
    for (String table : List.of("orders", "user_quota", "compensation")) {
      assertThat(rows(table)).as(table).isZero();
    }
    assertThat(rows("order_history")).isEqualTo(2);
    assertThat(rows("stock_change")).as("of an operator").isEqualTo(1);
    assertThat(ledger().path("balanced").booleanValue()).isTrue();
    assertThat(ledger().path("units")).isEqualTo(before.path("units"));
    assertThat(ledger().path("orders").path("paid")).isEqualTo(before.at("/orders/paid"));
    JsonNode audited = audit();
    assertThat(audited.path("differences").toString()).isEqualTo("[]");
    assertThat(audited.at("/paid/units").longValue()).isEqualTo(3);
    assertThat(audited.path("chargedCents").longValue()).isEqualTo(3 * 9_900);
    assertThat(consumer.api().pay(paid.orderId(), 7).text("status")).isEqualTo("PAID");
    assertThat(consumer.api().cancel(paid.orderId(), 7).code()).isEqualTo("NOT_CANCELLABLE");
    assertThat(decide(7, paid.requestId(), 3).orderId()).isEqualTo(paid.orderId());
    assertThat(decide(7, paid.requestId(), 1).outcome())
        .isEqualTo(StrongDecision.Outcome.IDEMPOTENCY_KEY_REUSED);
    assertThat(decide(7, "another-key", 1).outcome()).isEqualTo(StrongDecision.Outcome.CLOSED);
    lateMessagesHarmNothing(paid);
  }

  /** Shoppers and operators see the SKU alone, before and after. */
  @Tag("proof")
  @Test
  void movesTheOrdersOfAllShards() {
    String path = "/internal/v1/skus/" + sku;
    InternalApi api = consumer.api();
    List<OrderId> sold = new ArrayList<>();
    for (long shard : openShards()) {
      OrderId order = sold(shard, 7 + sold.size());
      assertThat(api.pay(order, 7 + sold.size()).status()).isEqualTo(200);
      sold.add(order);
    }
    for (long id : List.of(sku, Shards.id(sku, 1))) {
      consumer.update(
          "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
              + " VALUES (?, 'change', 1, '', '', 1, 'REFUSED')",
          id);
    }
    close();
    eventually().until(() -> archive().text("phase"), "REDIS"::equals);
    JsonNode before = ledger();

    finish();

    assertThat(archive().number("orders")).isEqualTo(4);
    assertThat(api.post(path + "/preheat").code()).isEqualTo("ARCHIVED");
    for (long shard : Shards.ids(sku, 4)) {
      assertThat(consumer.redis().keys("*:" + shard + "*")).isEmpty();
      for (String table : List.of("orders", "stock_change")) {
        assertThat(rows(table, shard)).as(table).isZero();
      }
    }
    assertThat(rows("stock_change")).as("of an operator").isEqualTo(1);
    assertThat(ledger().path("balanced").booleanValue()).as(ledger().toString()).isTrue();
    assertThat(ledger().path("units")).isEqualTo(before.path("units"));
    assertThat(ledger().at("/orders/paid").longValue()).isEqualTo(4);
    assertThat(audit().path("differences").toString()).isEqualTo("[]");
    assertThat(audit().at("/paid/units").longValue()).isEqualTo(4);
    assertThat(api.get(path).number("stock")).isEqualTo(398);
    assertThat(api.pay(sold.get(2), 9).text("status")).isEqualTo("PAID");
  }

  /** An audit after its end is the last one of the SKU, and counts the orders of its shards. */
  @Test
  void theArchiveOfASkuEndsAfterThoseOfItsShards() {
    List<Long> shards = openShards();
    close();
    begin(sku);
    shards.forEach(shard -> consumer.update(BEGUN, 1, shard)); // they wait for gateways
    ArchiveTable table = consumer.bean(ArchiveTable.class);

    assertThat(table.unfinished()).containsAll(shards).doesNotContain(sku);
    assertThat(table.find(sku).orElseThrow().phase()).isEqualTo(ArchivePhase.ORDERS);

    String done = "UPDATE archive SET phase = 'DONE', done_at = NOW(6) WHERE sku_id = ?";
    shards.forEach(shard -> consumer.update(done, shard));
    finish();
  }

  /** Until they have read that MySQL decides the sale, they may still admit in Redis. */
  private void waitsForGateways() {
    consumer.update(BEGUN, 1, sku);

    consumer.bean(SaleArchiver.class).round();

    assertThat(archive().text("phase")).isEqualTo("REDIS");
    assertThat(consumer.redis().exists(RedisKeys.sku(sku))).isTrue();
    consumer.update(BEGUN, 0, sku);
  }

  /** Gateways have read it within two seconds; a third is for clocks. */
  @Test
  void waitsThreeSecondsAtLeastForGateways() {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();
    begin(sku);
    consumer.update(BEGUN, 1, sku); // the service itself waits
    List<Duration> waits = new ArrayList<>();
    ArchiveTable table =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
          @Override
          boolean isOlderThan(long any, Duration age) {
            waits.add(age);
            return false;
          }
        };

    roundUntil(archiver(table), () -> !waits.isEmpty());

    assertThat(waits).allMatch(age -> age.compareTo(Duration.ofSeconds(3)) >= 0);
    consumer.update(BEGUN, 0, sku);
    finish();
  }

  private void lateMessagesHarmNothing(OrderMessage known) throws DatabaseUnavailableException {
    JsonNode before = ledger();
    OrderMessage late = OrderFlood.order(sku, known.policy(), 9, 1);

    flood.publish(known, late, known);

    eventually()
        .until(
            () ->
                consumer.number(
                        "SELECT COUNT(*) FROM dead_letter WHERE order_id = ? AND reason ="
                            + " 'UNKNOWN_SKU'",
                        late.orderId().value())
                    == 1);
    assertThat(
            consumer.number(
                "SELECT COUNT(*) FROM dead_letter WHERE order_id = ?", known.orderId().value()))
        .isZero();
    // As by an operator who had begun to discard a dead letter when the archive began.
    OrderMessage other = AdmittedSale.copy(known, "another-request", known.policy());
    assertThat(consumer.bean(OrderStore.class).discard(other).outcomes())
        .singleElement()
        .isInstanceOf(StoreOutcome.Unstorable.class);
    assertThat(rows("orders")).isZero();
    assertThat(rows("compensation")).isZero();
    assertThat(consumer.redis().keys("*:" + sku + "*")).isEmpty();
    eventually()
        .untilAsserted(() -> assertThat(ledger().path("orders")).isEqualTo(before.path("orders")));
    assertThat(audit().path("differences").toString()).isEqualTo("[]");
  }

  @Test
  void nothingOfAnArchivedSaleCanBeChanged() {
    archivedSale();
    String columns = "CONCAT_WS(' ', state, epoch, stock, closes_at, decides)";
    String row = consumer.product(sku, columns);
    String path = "/internal/v1/skus/" + sku;

    Map<String, Answer> answers =
        Map.of(
            "preheat", consumer.api().post(path + "/preheat", "{}"),
            "open", consumer.api().post(path + "/open", "{}"),
            "resume", consumer.api().post(path + "/resume", "{}"),
            "state", consumer.api().post(path + "/state", "{\"state\":\"OPEN\"}"),
            "edit", consumer.api().put(path, Sales.product("LIMITED", 100, 10)),
            "stock", consumer.api().changeStock(sku, "more-units", 5));

    answers.forEach(
        (action, answer) -> {
          assertThat(answer.status()).as(action + " " + answer.text()).isEqualTo(409);
          assertThat(answer.code()).as(action).isEqualTo("ARCHIVED");
        });
    assertThat(consumer.product(sku, columns)).isEqualTo(row);
  }

  private void archivedSale() {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();
    begin(sku);
    finish();
  }

  /** Redis may have come back with an older outbox. */
  @Test
  void anOrderThatNoCounterShowsIsStoredBeforeTheArchiveGoesOn() {
    SaleInFlight sale = SaleInFlight.open(sku, 100, consumer, flood);
    String order = OrderMessageCodec.encode(sale.order(7, 1));
    close();
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      consumer.redis().lpush(sale.outbox(), order);
      assertThat(archives.isHeld()).isTrue();
    }
    consumer.update(BEGUN, -1, sku);
    try {
      eventually()
          .until(
              () -> {
                consumer.bean(SaleArchiver.class).round();
                return !consumer.redis().exists(RedisKeys.sku(sku));
              });
      try (RunLock archives = onlyByTheTest()) { // no round goes on
        assertThat(archive().text("phase")).isEqualTo("REDIS");
        assertThat(archives.isHeld()).isTrue();
      }
    } finally {
      consumer.redis().lrem(sale.outbox(), 0, order);
    }
    finish();
  }

  private StrongDecision decide(long user, String key, int quantity) {
    return consumer
        .bean(StrongSales.class)
        .decide(List.of(new StrongPurchase(sku, user, key, quantity, null)))
        .get(0);
  }
}
