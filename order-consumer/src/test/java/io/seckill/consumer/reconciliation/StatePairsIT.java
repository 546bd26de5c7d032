package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One of the stores has older data than the other: from every pair of states what the operations
 * page offers leads to a preheat. It offers to close every sale that is not new in MySQL.
 */
@Tag("proof")
class StatePairsIT extends ReconciliationFixture {

  private static Stream<Arguments> pairs() {
    return Stream.of("NEW", "PREHEATED", "OPEN", "PAUSED", "CLOSED")
        .flatMap(
            inMySql ->
                Stream.of("PREHEATED", "OPEN", "PAUSED", "CLOSED")
                    .map(inRedis -> arguments(inMySql, inRedis)));
  }

  /** Redis has an older epoch, the same, and a newer one; of a new sale only a newer one. */
  @ParameterizedTest
  @MethodSource("pairs")
  void leadsToAPreheat(String inMySql, String inRedis) {
    long epoch = inMySql.equals("NEW") ? 0 : 2;
    for (long other = 1; other <= epoch + 1; other++) {
      AdmittedSale sale = saleIn(inMySql, epoch);
      sale.setField("state", inRedis);
      sale.setField("epoch", Long.toString(other));

      assertLeadsToAPreheat(sale, inMySql);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"NEW", "PREHEATED", "OPEN", "PAUSED", "CLOSED"})
  void leadsToAPreheatWithoutTheSaleInRedis(String inMySql) {
    AdmittedSale sale = saleIn(inMySql, inMySql.equals("NEW") ? 0 : 2);
    sale.forget();

    assertLeadsToAPreheat(sale, inMySql);
  }

  private static AdmittedSale saleIn(String state, long epoch) {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    consumer.update(
        "UPDATE products SET state = ?, epoch = ? WHERE sku_id = ?", state, epoch, sale.sku);
    return sale;
  }

  private static void assertLeadsToAPreheat(AdmittedSale sale, String inMySql) {
    String path = "/internal/v1/skus/" + sale.sku;
    if (inMySql.equals("NEW")) {
      reconcile(sale, false);
    } else {
      PendingStop close = new PendingStop(sale.sku, "CLOSED", 1, "alice");
      assertThat(new SaleStates(consumer.redis()).stop(close)).as("the gateway's part").isTrue();
      Answer closed = consumer.api().post(path + "/state", "{\"state\":\"CLOSED\"}");
      assertThat(closed.status()).as(closed.text()).isEqualTo(200);
    }

    Answer preheated =
        eventually()
            .until(
                () -> consumer.api().post(path + "/preheat", "{}"),
                answer -> answer.status() == 200);

    assertThat(sale.field("state")).isEqualTo("PREHEATED");
    assertThat(sale.field("epoch")).isEqualTo(Long.toString(preheated.number("epoch")));
  }
}
