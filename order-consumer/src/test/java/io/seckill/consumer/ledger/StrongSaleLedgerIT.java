package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.testing.ConsumerAlone;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.OrderTotalSql;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The ledger of a strong sale is MySQL's alone, and reconciliation leaves the sale alone. */
@ExtendWith(TestServers.class)
@Timeout(50) // a call of Redis would take a minute
class StrongSaleLedgerIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(14_001);

  private static final ConsumerAlone alone = ConsumerAlone.shared();
  private static final TestConsumer consumer = alone.consumer();
  private static final InternalApi api = consumer.api();
  private static final StoredOrderFixture orders = new StoredOrderFixture(consumer);

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;

  @BeforeEach
  void open() {
    new Sales(consumer).openStrong(sku, "LIMITED", 5, 20);
  }

  @Test
  void accountsForEveryUnitAndOrder() {
    orders.strong(sku, 7, 3);
    call(orders.strong(sku, 7, 2), "payment");
    call(orders.strong(sku, 8, 4), "cancel");
    assertThat(api.changeStock(sku, "change-1", 10).status()).isEqualTo(200);
    assertThat(api.changeStock(sku, "change-2", -5).status()).isEqualTo(200);

    JsonNode ledger = ledger();

    assertThat(ledger.path("decides").stringValue()).isEqualTo("MYSQL");
    assertThat(ledger.path("balanced").booleanValue()).as("%s", ledger).isTrue();
    assertThat(ledger.path("units").toString())
        .isEqualTo(
            """
            {"initial":20,"added":10,"withdrawn":5,"stock":20,"outboxAndPrivateQueues":0,"broker":0,"deadLetters":0,\
            "confirmed":3,"paid":2,"compensating":0,"changing":0,"difference":0}\
            """);
    assertThat(ledger.path("orders").toString())
        .isEqualTo(
            """
            {"admitted":3,"outboxAndPrivateQueues":0,"broker":0,"deadLetters":0,"confirmed":1,"paid":1,"cancelled":1,\
            "expired":0,"rejected":0,"aliases":0,"difference":0}\
            """);
    assertThat(ledger.path("mysql").toString())
        .isEqualTo("{\"stock\":20,\"expected\":20,\"difference\":0}");
    assertThat(ledger.path("partition").toString())
        .isEqualTo(
            """
            {"partition":%d,"outbox":0,"oldestMs":0,"privateQueues":0,"deadPrivateQueues":0,"expected":0,"difference":0}\
            """
                .formatted(sku % 16));
    assertThat(ledger.path("queue").isNull()).isTrue();
  }

  @Test
  void staysBalancedAcrossAPreheat() {
    orders.strong(sku, 7, 3);
    api.post(path + "/state", "{\"state\":\"CLOSED\"}");
    api.post(path + "/preheat", "{}");
    api.post(path + "/open", "{}");
    orders.strong(sku, 8, 1);

    JsonNode ledger = ledger();

    assertThat(ledger.path("balanced").booleanValue()).as("%s", ledger).isTrue();
    assertThat(ledger.at("/orders/admitted").longValue()).isEqualTo(2);
  }

  @Test
  void findsUnitsMissingInTheStock() {
    orders.strong(sku, 7, 3);
    change("UPDATE products SET stock = stock - 2 WHERE sku_id = ?", sku);

    JsonNode ledger = ledger();
    change("UPDATE products SET stock = stock + 2 WHERE sku_id = ?", sku);

    assertThat(ledger.path("balanced").booleanValue()).as("%s", ledger).isFalse();
    assertThat(ledger.path("unbalancedSince").isNull()).isFalse();
    assertThat(ledger.at("/units/difference").longValue()).isEqualTo(2);
    assertThat(ledger.at("/mysql/difference").longValue()).isEqualTo(2);
    assertThat(ledger.at("/orders/difference").longValue()).isZero();
  }

  @Test
  void findsAnOrderThatIsNotCounted() {
    orders.strong(sku, 7, 3);
    change("DELETE FROM order_total WHERE sku_id = ?", sku);

    JsonNode ledger = ledger();
    consumer.update(OrderTotalSql.count(sku));

    assertThat(ledger.path("balanced").booleanValue()).as("%s", ledger).isFalse();
    assertThat(ledger.at("/units/difference").longValue()).isEqualTo(3);
    assertThat(ledger.at("/orders/difference").longValue()).isEqualTo(1);
  }

  @Test
  void isWatchedWhileTheLedgersOfOtherSalesCannotBeRead() {
    alone.heal();
    new Sales(consumer).openInMySql(sku + 500, "LIMITED", 5, 20);
    alone.cutRedis();

    try {
      consumer.bean(Ledgers.class).refresh();
    } finally {
      alone.isolate();
      change("DELETE FROM products WHERE sku_id = ?", sku + 500);
    }

    assertThat(consumer.bean(Ledgers.class).latest())
        .anySatisfy(
            ledger -> {
              assertThat(ledger.skuId()).isEqualTo(sku);
              assertThat(ledger.balanced()).isTrue();
            });
    assertThat(gauge("seckill.ledger.units", "sku", Long.toString(sku), "term", "stock"))
        .isEqualTo(20);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void isNotReconciled(boolean dryRun) {
    Answer refused = api.post(path + "/reconciliation", "{\"dryRun\":" + dryRun + "}");

    assertThat(refused.status()).as(refused.text()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("REFUSED");
    assertThat(refused.text("detail")).contains("MySQL alone decides");
    assertThat(api.get(path + "/reconciliation").body().path("reconciliations").size()).isZero();
  }

  @Test
  void aReportOfLostAdmissionsChangesNothing() {
    orders.strong(sku, 7, 3);

    Answer answer = api.post(path + "/lost-admissions", "{\"epoch\":1,\"seq\":70}");

    assertThat(answer.status()).isEqualTo(204);
    assertThat(orders.product(sku, "last_seq")).isEqualTo("1");
  }

  private JsonNode ledger() {
    Answer answer = api.get(path + "/ledger");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.body();
  }

  private static void call(OrderId id, String action) {
    for (int user : List.of(7, 8)) {
      api.post("/internal/v1/orders/" + id + "/" + action, "{\"userId\":" + user + "}");
    }
  }

  private static double gauge(String name, String... tags) {
    return consumer.gauge(name, tags);
  }

  private static void change(String sql, long id) {
    assertThat(consumer.update(sql, id)).isEqualTo(1);
  }
}
