package io.seckill.system.faults;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LossIsMeasured;
import io.seckill.system.guarantee.NeverOversold;
import io.seckill.system.guarantee.NothingInvented;
import io.seckill.system.guarantee.OutcomesStay;
import io.seckill.system.guarantee.QuotaHeld;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.guarantee.StoredOnce;
import io.seckill.system.guarantee.StoresAgree;
import io.seckill.system.shop.Answer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The sales of a run after a loss of Redis's data: they admit nothing until each is rebuilt from
 * MySQL. Created before the loss; for {@link #stayClosed}, when no purchase is under way that the
 * lost Redis may have admitted.
 */
public final class LostSales {

  private static final String UNAVAILABLE = "ADMISSION_UNAVAILABLE";

  private final PipelineLab lab;
  private final FaultRun run;
  private final int accepted;
  private final Map<SaleOffer, Long> epochs = new HashMap<>();
  private final Map<ServiceInstance, Double> quarantined = new HashMap<>();

  public LostSales(PipelineLab lab, FaultRun run) {
    this.lab = lab;
    this.run = run;
    this.accepted = run.load().accepted();
    lab.gateways().forEach(gateway -> quarantined.put(gateway, quarantined(gateway)));
    run.sales().forEach(sale -> epochs.put(sale, lab.sales().epoch(sale.skuId())));
  }

  /**
   * Checks that nothing is admitted between the loss and the rebuild, however often shoppers retry.
   * Sales of earlier rows may have been quarantined before: more must be, or a gateway may still
   * rely on what it knew of the lost Redis.
   */
  public void stayClosed() {
    Signals.await(
        "gateways to know the other Redis",
        () ->
            lab.gateways().stream()
                .allMatch(
                    gateway ->
                        gateway.sum("seckill_redis_verified") == 1
                            && quarantined(gateway) > quarantined.get(gateway)));
    run.load().awaitProblems(UNAVAILABLE, run.load().problems(UNAVAILABLE) + 100);
    assertThat(run.load().accepted())
        .as("purchases accepted before Redis is rebuilt")
        .isEqualTo(accepted);
  }

  private static double quarantined(ServiceInstance gateway) {
    return gateway.sum("seckill_quarantined_skus");
  }

  /**
   * Rebuilds every sale of the run, closes those of earlier rows, and puts new probes on sale.
   * While a lost sale of a partition is neither rebuilt nor closed, an order of that partition that
   * no store has is not known to be lost.
   */
  public void rebuild() {
    epochs.forEach(this::rebuild);
    closeOthers();
  }

  /** As an operator does who sees whether a sale is lost. Returns whether any was. */
  public boolean rebuildIfLost() {
    List<String> outcomes = epochs.keySet().stream().map(this::outcome).toList();
    boolean isLost = outcomes.contains("REBUILT");
    if (isLost) {
      closeOthers();
    }
    return isLost;
  }

  private String outcome(SaleOffer sale) {
    AtomicReference<String> outcome = new AtomicReference<>();
    Signals.awaitThat(
        "a reconciliation of " + sale,
        () -> {
          Answer answer = lab.admin().reconcile(sale.skuId());
          assertThat(answer.text("outcome")).as("%s", answer).isIn("REBUILT", "CLEAN", "REPAIRED");
          outcome.set(answer.text("outcome"));
        });
    return outcome.get();
  }

  private void closeOthers() {
    Set<Long> ours = epochs.keySet().stream().map(SaleOffer::skuId).collect(toSet());
    lab
        .database()
        .rows(
            "SELECT sku_id FROM products WHERE state IN ('PREHEATED', 'OPEN', 'PAUSED') AND "
                + SalePhase.REDIS_DECIDES,
            row -> row.getLong(1))
        .stream()
        .filter(sku -> !Shards.isShard(sku) && !ours.contains(sku))
        .forEach(
            sku ->
                Signals.awaitThat(
                    "a close of " + sku,
                    () -> assertThat(lab.admin().close(sku).status()).isIn(200, 202)));
    lab.worksAgain().newProbes();
  }

  /**
   * A call may fail, because its consumer's links have just been restored, after it has begun a
   * rebuild. The scheduled reconciliation continues the rebuild, and the next call finds it done.
   */
  private void rebuild(SaleOffer sale, long epochBefore) {
    Signals.awaitThat(
        "a rebuild of " + sale,
        () -> {
          Answer answer = lab.admin().reconcile(sale.skuId());
          assertThat(answer.text("outcome")).as("%s", answer).isIn("REBUILT", "CLEAN", "REPAIRED");
          assertThat(answer.json().path("epoch").asLong())
              .as("%s", answer)
              .isGreaterThan(epochBefore);
        });
  }

  /** Checks that a repeat is answered with the order that MySQL has of the purchase. */
  void assertRepeatsGetTheirOrders() {
    for (SaleOffer sale : run.sales()) {
      String stored =
          "SELECT user_id, quantity, request_id, order_id FROM orders"
              + (" WHERE status = 'CONFIRMED' AND sku_id = " + sale.skuId() + " LIMIT 20");
      List<Boolean> isSame =
          lab.database()
              .rows(
                  stored,
                  row -> {
                    Answer answer =
                        lab.shops()
                            .get(0)
                            .buy(row.getLong(1), sale.skuId(), row.getInt(2), row.getString(3));
                    return answer.text("orderId").equals(row.getString(4));
                  });
      assertThat(isSame).as("repeats of %s", sale).isNotEmpty().doesNotContain(false);
    }
  }

  /**
   * All guarantees except those on data that is lost or counted anew.
   *
   * @param mayBeMissing order ids that were in the lost data only
   */
  public static List<Guarantee> guarantees(Set<String> mayBeMissing) {
    return List.of(
        new NeverOversold(),
        new LossIsMeasured(mayBeMissing),
        new NothingInvented(),
        new StoredOnce(),
        new QuotaHeld(),
        new StoresAgree(),
        new OutcomesStay(Explained.NOTHING.withRejections("SOLD_OUT", "QUOTA_EXCEEDED")));
  }
}
