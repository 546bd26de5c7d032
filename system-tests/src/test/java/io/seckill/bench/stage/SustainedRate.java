package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Ledger;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.load.LoadPlan;
import io.seckill.bench.load.LoadResult;
import io.seckill.bench.load.Loader;
import io.seckill.common.redis.RedisKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Searches the highest rate that the whole pipeline keeps up with: every purchase is accepted, and
 * at the end of a trial no more orders are on the way than half way through it, give or take half a
 * second's worth.
 */
final class SustainedRate {

  private static final double FIRST = 6_000;
  private static final double LOWEST = 500;
  private static final double STEP = 1.5;
  private static final double SLACK_SECONDS = 0.5;
  private static final double PUNCTUAL = 1.05;

  private final Lab lab;
  private final Duration trial;
  private final int refinements;

  SustainedRate(Lab lab, Duration trial, int refinements) {
    this.lab = lab;
    this.trial = trial;
    this.refinements = refinements;
  }

  /** Orders per second; 0 when not even the lowest rate tried was kept up. */
  double search() throws SQLException {
    double kept = 0;
    double missed = FIRST;
    while (keepsUp(missed)) {
      kept = missed;
      missed *= STEP;
    }
    while (kept == 0 && missed > LOWEST) {
      double lower = missed / STEP;
      if (keepsUp(lower)) {
        kept = lower;
      } else {
        missed = lower;
      }
    }
    for (int i = 0; kept > 0 && i < refinements; i++) {
      double middle = Math.sqrt(kept * missed);
      if (keepsUp(middle)) {
        kept = middle;
      } else {
        missed = middle;
      }
    }
    return kept;
  }

  private boolean keepsUp(double perSecond) throws SQLException {
    lab.progress().now("end to end: trying %.0f orders/s".formatted(perSecond));
    int count = (int) (perSecond * trial.toSeconds());
    Sale sale = lab.newSale(count);
    LoadPlan plan = new ReadyPurchases(lab, sale, count).at(perSecond);
    try (Ledger ledger = new Ledger(lab.mysql())) {
      CompletableFuture<LoadResult> load = CompletableFuture.supplyAsync(() -> run(plan));
      Waiting.pass(trial.dividedBy(2));
      long halfWay = onTheWay(sale, ledger);
      LoadResult result = load.join();
      long atTheEnd = onTheWay(sale, ledger);
      Waiting.until(
          "all orders to be stored",
          Duration.ofMillis(50),
          () -> ledger.stored(sale) >= result.answers(202));
      return result.answers(202) == count
          && result.seconds() <= trial.toSeconds() * PUNCTUAL
          && atTheEnd <= halfWay + perSecond * SLACK_SECONDS;
    }
  }

  private long onTheWay(Sale sale, Ledger ledger) throws SQLException {
    long admitted = sale.stock() - Long.parseLong(lab.redis().get(RedisKeys.stock(sale.skuId())));
    return admitted - ledger.stored(sale);
  }

  private static LoadResult run(LoadPlan plan) {
    try {
      return Loader.run(plan, answer -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
