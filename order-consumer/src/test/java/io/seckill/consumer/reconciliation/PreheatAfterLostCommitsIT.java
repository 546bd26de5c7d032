package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.LoggedLines;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * MySQL was restored from a backup, and lacks orders that Redis shows as paid: a preheat of their
 * closed sale gives up those that an operator has looked at, and no other.
 */
class PreheatAfterLostCommitsIT extends ReconciliationFixture {

  private static final String LOST = "ORDER_NOT_IN_MYSQL";

  /** Redis has forgotten the second order, whose units it had returned. */
  @Test
  void givesUpOrdersOnceAnOperatorHasLookedAtThem() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    OrderMessage cancelled = sale.admit(2, 1);
    sale.forgetRecord(cancelled);
    sale.setQuota(2, 0);
    sale.setStock(sale.stock() + 1);
    close(sale);
    assertThat(refusal(sale)).contains("2 orders not settled", "look");
    Answer look = look(sale, paid);
    assertThat(look.text("detail")).endsWith("MySQL has lost orders " + paid.orderId() + ".");

    LoggedLines audit = LoggedLines.of("audit");
    try (audit) {
      assertThat(preheated(sale).number("stock")).isEqualTo(100);
    }

    assertThat(audit.texts())
        .anyMatch(line -> line.contains("preheat sku=" + sale.sku + " ordersGivenUp=2"));
    assertThat(sale.result(paid)).isEmpty();
    assertThat(ledger.status(paid)).isEqualTo("none");
    assertSettled(sale, 0);
  }

  /** Nobody reads what the schedule or a return finds, and a repair may be routine. */
  @ParameterizedTest
  @CsvSource({"schedule, true", "schedule, false", "fallback, true", "operator, false"})
  void takesNoOtherRunForALook(String startedBy, boolean dryRun) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    close(sale);
    Reconciler.Order order = new Reconciler.Order(dryRun, true, startedBy);
    eventually()
        .ignoreExceptions()
        .until(
            () ->
                consumer
                    .bean(Reconciler.class)
                    .run(sale.sku, order)
                    .counts()
                    .containsKey(RepairKind.ORDER_NOT_IN_MYSQL));

    assertThat(refusal(sale)).contains("1 orders not settled");

    assertThat(sale.stock()).as("its units stay taken").isEqualTo(98);
    look(sale, paid);
    preheated(sale);
  }

  @Test
  void givesUpNoOrderThatNoLookHasListed() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage early = paid(sale, 1);
    look(sale, early);
    OrderMessage late = paid(sale, 2);
    close(sale);

    assertThat(refusal(sale))
        .contains("lost 1 orders", late.orderId().toString())
        .doesNotContain(early.orderId().toString());

    assertThat(consumer.product(sale.sku, "epoch")).isEqualTo("1");
    look(sale, early, late);
    preheated(sale);
    assertSettled(sale, 0);
  }

  @Test
  void givesUpNoOrderThatCanBeSentAgain() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    OrderMessage confirmed = sale.admit(2, 1);
    sale.setResult(confirmed, "C");
    close(sale);
    look(sale, paid);
    assertThat(refusal(sale)).contains("1 orders that can be sent again");

    reconcile(sale, false);

    ledger.awaitOrders(sale.sku, 1);
    assertThat(preheated(sale).number("stock")).isEqualTo(99);
    assertThat(ledger.status(confirmed)).isEqualTo("CONFIRMED");
    assertSettled(sale, 1);
  }

  @Test
  void waitsForAnOrderInTheOutboxBeforeItGivesUpOthers() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    OrderMessage queued = sale.admit(2, 1);
    sale.outbox(queued);
    close(sale);
    look(sale, paid);
    assertThat(refusal(sale)).contains("2 orders not settled");
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    flood.publish(queued);

    ledger.awaitOrders(sale.sku, 1);
    assertThat(preheated(sale).number("stock")).isEqualTo(99);
    assertSettled(sale, 1);
  }

  /** MySQL has given the orders up, and the process died before it wrote Redis. */
  @Test
  void replacesTheCountersOfRedisWhenAPreheatThatWasInterruptedIsRepeated() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    paid(sale, 1);
    close(sale);
    consumer.update(
        "UPDATE products SET state = 'PREHEATED', epoch = 2, last_seq = 101, settled = 101"
            + " WHERE sku_id = ?",
        sale.sku);

    preheated(sale);

    assertSettled(sale, 0);
  }

  /** The backup is older than the preheat. Even orders that can be sent again were given up. */
  @ParameterizedTest
  @ValueSource(strings = {"NEW", "CLOSED"})
  void givesUpNoOrderOfAnEpochThatMySqlHasLostWithoutALook(String state) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    OrderMessage confirmed = sale.admit(2, 1);
    sale.setResult(confirmed, "C");
    close(sale);
    sale.setField("settled", "2");
    consumer.update("UPDATE products SET state = ?, epoch = 0 WHERE sku_id = ?", state, sale.sku);
    eventually().until(() -> refusal(sale).contains("1 orders that can be sent again"));

    reconcile(sale, false);

    ledger.awaitOrders(sale.sku, 1);
    assertThat(refusal(sale)).contains("lost 1 orders", paid.orderId().toString());
    assertThat(consumer.product(sale.sku, "epoch")).isEqualTo("0");
    assertThat(look(sale, paid).text("detail")).contains("later epoch");
    LoggedLines audit = LoggedLines.of("audit");
    try (audit) {
      Answer done = preheated(sale);
      assertThat(done.number("epoch")).isEqualTo(2);
      assertThat(done.number("stock")).isEqualTo(99);
    }
    assertThat(audit.texts())
        .anyMatch(line -> line.contains("preheat sku=" + sale.sku + " ordersGivenUp=1"));
    assertSettled(sale, 1);
  }

  /** Nothing else stops it: a new sale can be neither paused nor closed. */
  @ParameterizedTest
  @ValueSource(strings = {"OPEN", "PAUSED"})
  void stopsASaleThatRunsInRedisAndIsNewInMySql(String state) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    OrderMessage confirmed = sale.admit(2, 1);
    sale.setResult(confirmed, "C");
    sale.setField("state", state);
    consumer.update("UPDATE products SET state = 'NEW', epoch = 0 WHERE sku_id = ?", sale.sku);
    Answer refused = eventually().until(() -> preheat(sale), answer -> answer.status() != 503);
    assertThat(refused.code()).as(refused.text()).isEqualTo("SALE_RUNNING");
    assertThat(refused.text("detail")).contains("reconcile it with look, then with repair");

    assertThat(kinds(look(sale, paid))).contains("STATE_SET");
    assertThat(sale.field("state")).isEqualTo(state);
    assertThat(kinds(reconcile(sale, false))).contains("STATE_SET");
    assertThat(sale.field("state")).isEqualTo("CLOSED");

    ledger.awaitOrders(sale.sku, 1);
    assertThat(preheated(sale).number("epoch")).isEqualTo(2);
    assertSettled(sale, 1);
  }

  /** Redis must have the sale, so a repair rebuilds it, and gives them up. */
  @ParameterizedTest
  @ValueSource(strings = {"PREHEATED", "OPEN"})
  void listsOrdersOfAnEpochThatMySqlHasLostBeforeARebuild(String state) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage paid = paid(sale, 1);
    boolean isOpen = state.equals("OPEN");
    if (!isOpen) {
      close(sale); // in Redis
    }
    consumer.update("UPDATE products SET state = ?, epoch = 0 WHERE sku_id = ?", state, sale.sku);
    if (!isOpen) {
      eventually().until(() -> refusal(sale).contains("no look has listed them"));
    }

    Answer look = look(sale, paid);

    assertThat(outcome(look)).isEqualTo("LOST");
    assertThat(look.text("detail")).contains("later epoch", paid.orderId().toString());
    assertThat(consumer.product(sale.sku, "epoch")).isEqualTo("0");
    if (isOpen) {
      eventually().until(() -> outcome(reconcile(sale, false)).equals("REBUILT"));
    } else {
      assertThat(preheated(sale).number("epoch")).isEqualTo(2);
    }
    assertSettled(sale, 0);
  }

  private static OrderMessage paid(AdmittedSale sale, long user) {
    OrderMessage order = sale.admit(user, 2);
    sale.setResult(order, "P");
    return order;
  }

  private static void close(AdmittedSale sale) {
    String state = "/internal/v1/skus/" + sale.sku + "/state";
    assertThat(consumer.api().post(state, "{\"state\":\"CLOSED\"}").status()).isEqualTo(200);
  }

  /** A dry run of an operator, once it has listed these orders. */
  private static Answer look(AdmittedSale sale, OrderMessage... lost) {
    List<String> ids = Stream.of(lost).map(order -> order.orderId().toString()).toList();
    return eventually()
        .until(() -> reconcile(sale, true), report -> subjects(report, LOST).containsAll(ids));
  }

  private static String refusal(AdmittedSale sale) {
    Answer refused = preheat(sale);
    assertThat(refused.code()).as(refused.text()).isEqualTo("ORDERS_IN_FLIGHT");
    return refused.text("detail");
  }

  private static Answer preheated(AdmittedSale sale) {
    return eventually().until(() -> preheat(sale), answer -> answer.status() == 200);
  }

  private static Answer preheat(AdmittedSale sale) {
    return consumer.api().post("/internal/v1/skus/" + sale.sku + "/preheat", "{}");
  }

  /** Both stores have these orders, and nothing is in flight. */
  private static void assertSettled(AdmittedSale sale, int orders) {
    assertThat(sale.field("admittedOrders")).isEqualTo(Integer.toString(orders));
    assertThat(sale.field("publishedUnits")).isEqualTo(Integer.toString(orders));
    assertThat(sale.field("seq")).isEqualTo(Long.toString(ledger.settled(sale.sku)));
    JsonNode balance = consumer.api().get("/internal/v1/skus/" + sale.sku + "/ledger").body();
    assertThat(balance.at("/units/difference").longValue()).as("%s", balance).isZero();
    assertThat(balance.at("/orders/difference").longValue()).as("%s", balance).isZero();
    assertThat(balance.at("/orders/broker").longValue()).as("%s", balance).isZero();
  }
}
