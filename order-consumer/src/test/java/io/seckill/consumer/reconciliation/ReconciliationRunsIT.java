package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.reconciliation.Reconciler.Order;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reconciliation runs hold connections while they wait. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ReconciliationRunsIT {

  /** Barrier messages are not consumed, so that runs wait. */
  private static final Map<String, String> WAITING =
      Map.of(
          "seckill.intake.enabled", "false",
          "seckill.reconciliation.barrier-timeout", "10s",
          "spring.datasource.hikari.maximum-pool-size", "2");

  @Test
  void twoAtOnceLeaveTheOthersTheirConnectionsAndAThirdIsRefused() {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (TestConsumer consumer = TestConsumer.start(WAITING)) {
      List<AdmittedSale> sales = new ArrayList<>();
      for (long sku = 8_001; sku <= 8_003; sku++) {
        AdmittedSale sale = new AdmittedSale(consumer, sku, PurchasePolicy.LIMITED, 5, 100);
        sale.admit(1, 1);
        sales.add(sale);
      }
      List<CompletableFuture<Answer>> running =
          sales.subList(0, 2).stream()
              .map(sale -> CompletableFuture.supplyAsync(() -> reconcile(consumer, sale), threads))
              .toList();
      sales.subList(0, 2).forEach(sale -> awaitRun(consumer, sale));

      Answer third = reconcile(consumer, sales.get(2));
      Answer reports = consumer.api().get(path(sales.get(2)));

      assertThat(third.status()).isEqualTo(503);
      assertThat(third.code()).isEqualTo("UNAVAILABLE");
      assertThat(reports.status()).isEqualTo(200);
      assertThat(running).as("runs that have ended by now").noneMatch(CompletableFuture::isDone);
      assertThat(running).allMatch(run -> Bounded.get(run).text().contains("UNPROVEN"));
    } finally {
      threads.shutdownNow();
    }
  }

  /** Operators compare the first two of three sales, and Redis loses the third. */
  @Test
  void operatorsComparisonsKeepNoRebuildWaiting() {
    Map<String, String> rebuilding = new HashMap<>(WAITING);
    rebuilding.put("seckill.reconciliation.auto-rebuild", "true");
    rebuilding.put("pause.reconciliationSweeper", "1h");
    rebuilding.put("pause.lostSaleSweeper", "1h");
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try (TestConsumer consumer = TestConsumer.start(rebuilding)) {
      Schedule schedule = consumer.bean(Schedule.class);
      schedule.round(); // it leads
      List<AdmittedSale> sales = new ArrayList<>();
      for (long sku = 8_001; sku <= 8_003; sku++) {
        AdmittedSale sale = new AdmittedSale(consumer, sku, PurchasePolicy.LIMITED, 5, 100);
        sale.admit(1, 1);
        sales.add(sale);
      }
      List<CompletableFuture<Answer>> running =
          sales.subList(0, 2).stream()
              .map(sale -> CompletableFuture.supplyAsync(() -> reconcile(consumer, sale), threads))
              .toList();
      sales.subList(0, 2).forEach(sale -> awaitRun(consumer, sale));
      AdmittedSale third = sales.get(2);

      Optional<String> whyNot =
          consumer.bean(Reconciler.class).returnToRedis(third.sku, Duration.ofSeconds(1));
      third.forget();
      CompletableFuture<Void> look = CompletableFuture.runAsync(schedule::look, threads);

      assertThat(whyNot).as("it is in no fallback").isEmpty();
      awaitRun(consumer, third);
      assertThat(running).as("runs that have ended by now").noneMatch(CompletableFuture::isDone);
      assertThat(running).allMatch(run -> Bounded.get(run).text().contains("UNPROVEN"));
      Bounded.get(look);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void comparisonsInTheBackgroundLeaveOperatorsTheirRuns() {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (TestConsumer consumer = TestConsumer.start(WAITING)) {
      List<AdmittedSale> sales = new ArrayList<>();
      for (long sku = 8_001; sku <= 8_004; sku++) {
        AdmittedSale sale = new AdmittedSale(consumer, sku, PurchasePolicy.LIMITED, 5, 100);
        sale.admit(1, 1);
        sales.add(sale);
      }
      Reconciler reconciler = consumer.bean(Reconciler.class);
      List<CompletableFuture<Report>> background =
          sales.subList(0, 2).stream()
              .map(
                  sale ->
                      CompletableFuture.supplyAsync(
                          () -> reconciler.run(sale.sku, Order.inBackground(true, () -> {})),
                          threads))
              .toList();
      sales.subList(0, 2).forEach(sale -> awaitRun(consumer, sale));

      List<CompletableFuture<Answer>> operators =
          sales.subList(2, 4).stream()
              .map(sale -> CompletableFuture.supplyAsync(() -> reconcile(consumer, sale), threads))
              .toList();

      assertThat(operators).allMatch(run -> Bounded.get(run).text().contains("UNPROVEN"));
      assertThat(background).allMatch(run -> Bounded.get(run).outcome() == RunOutcome.UNPROVEN);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void awaitRun(TestConsumer consumer, AdmittedSale sale) {
    eventually().until(() -> isRunning(consumer, sale));
  }

  /** Looks only: taking the lock would refuse a run that begins at this moment. */
  private static boolean isRunning(TestConsumer consumer, AdmittedSale sale) {
    return consumer.number(
            "SELECT IS_USED_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), ?)) IS NOT NULL",
            "reconcile-" + sale.sku)
        == 1;
  }

  private static Answer reconcile(TestConsumer consumer, AdmittedSale sale) {
    return consumer.api().post(path(sale), "{\"dryRun\":false}");
  }

  private static String path(AdmittedSale sale) {
    return "/internal/v1/skus/" + sale.sku + "/reconciliation";
  }
}
