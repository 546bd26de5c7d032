package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;

/**
 * Sales in both stores, and their reconciliation, on one consumer for all classes of these tests.
 */
@ExtendWith(TestServers.class)
abstract class ReconciliationFixture {

  private static final AtomicLong SKUS = new AtomicLong(7_000);

  static final TestConsumer consumer =
      TestConsumer.shared(
          Map.of(
              "seckill.reconciliation.barrier-timeout", "20s",
              "pause.compensationSweeper", "1h",
              "pause.pendingStopSweeper", "1h"));

  static final OrderFlood flood = new OrderFlood(consumer.vhost());
  static final StoredInvariants ledger = new StoredInvariants(consumer.sql());

  static AdmittedSale sale(PurchasePolicy policy, int limit, long stock) {
    return new AdmittedSale(consumer, SKUS.incrementAndGet(), policy, limit, stock);
  }

  /** A round of the schedule would compare those of all tests before. */
  static void endOtherSales() {
    consumer.update("UPDATE products SET closes_at = NOW() - INTERVAL 40 DAY");
  }

  static String path(AdmittedSale sale) {
    return "/internal/v1/skus/" + sale.sku + "/reconciliation";
  }

  /** Sends the same request again when a store has not answered in time, as the answer says. */
  static Answer reconcile(AdmittedSale sale, boolean dryRun) {
    Answer answer =
        eventually()
            .until(
                () -> consumer.api().post(path(sale), "{\"dryRun\":" + dryRun + "}"),
                reply -> reply.status() != 503);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer;
  }

  static String outcome(Answer report) {
    return report.body().path("outcome").asString();
  }

  /**
   * May take more than one run: a run leaves out recent results, which the process that decided
   * them is still writing to Redis.
   */
  static void awaitKind(AdmittedSale sale, String kind) {
    eventually().until(() -> kinds(reconcile(sale, false)).contains(kind));
  }

  static void awaitClean(AdmittedSale sale) {
    eventually().until(() -> outcome(reconcile(sale, false)).equals("CLEAN"));
  }

  static long reports(AdmittedSale sale) {
    return ledger.number("SELECT COUNT(*) FROM reconciliation WHERE sku_id = " + sale.sku);
  }

  static JsonNode repair(Answer report, String kind) {
    return report
        .body()
        .path("repairs")
        .valueStream()
        .filter(repair -> repair.path("kind").asString().equals(kind))
        .findFirst()
        .orElseThrow();
  }

  static Set<String> kinds(Answer report) {
    return report
        .body()
        .path("repairs")
        .valueStream()
        .map(repair -> repair.path("kind").asString())
        .collect(toSet());
  }

  static Set<String> subjects(Answer report, String kind) {
    return report
        .body()
        .path("repairs")
        .valueStream()
        .filter(repair -> repair.path("kind").asString().equals(kind))
        .map(repair -> repair.path("subject").asString())
        .collect(toSet());
  }

  static Answer cancel(OrderMessage order) {
    return consumer.api().cancel(order.orderId(), order.userId());
  }

  /** Puts a dead letter of the order into MySQL: its message has another policy. */
  static String deadLetter(OrderMessage order) {
    flood.publish(AdmittedSale.copy(order, order.requestId(), PurchasePolicy.UNLIMITED));
    String letter = "FROM dead_letter WHERE order_id = " + order.orderId();
    ledger.await("SELECT COUNT(*) " + letter, 1);
    return letter;
  }
}
