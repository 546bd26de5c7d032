package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Ledger;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.load.Loader;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;
import org.HdrHistogram.Histogram;

/** All three services: how many orders a second from click to row, and how long one takes. */
final class EndToEnd implements Stage {

  private static final String SUSTAINED = "e2e.sustained_per_s";
  private static final double BUSY = 0.8;
  private static final int WARM_UP_PER_SECOND = 3_000;
  private static final Duration LOOK = Duration.ofMillis(2);

  @Override
  public String name() {
    return "e2e";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    lab.progress().now("end to end: warming up");
    clickToRow(lab, WARM_UP_PER_SECOND, lab.settings().choose(12, 5));
    HeapWatch.during(lab, figures, () -> repeat(lab, figures));
  }

  private static void repeat(Lab lab, Figures figures) throws Exception {
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      measureOnce(lab, figures);
    }
  }

  private static void measureOnce(Lab lab, Figures figures) throws Exception {
    Duration trial = lab.settings().seconds(8, 4);
    double sustained = new SustainedRate(lab, trial, lab.settings().choose(3, 1)).search();
    figures.add(SUSTAINED, sustained);
    int seconds = lab.settings().choose(12, 4);
    Histogram slow = clickToRow(lab, 100, seconds);
    figures.add("e2e.click_to_row_p50_ms", ms(slow, 50));
    figures.add("e2e.click_to_row_100_p99_ms", ms(slow, 99));
    Histogram brisk = clickToRow(lab, 1_000, seconds);
    figures.add("e2e.click_to_row_1000_p50_ms", ms(brisk, 50));
    figures.add("e2e.click_to_row_p99_ms", ms(brisk, 99));
    if (sustained > 0) {
      Histogram busy = clickToRow(lab, (int) (sustained * BUSY), seconds);
      figures.add("e2e.click_to_row_busy_p50_ms", ms(busy, 50));
      figures.add("e2e.click_to_row_busy_p99_ms", ms(busy, 99));
    }
  }

  private static Histogram clickToRow(Lab lab, int perSecond, int seconds) throws Exception {
    lab.progress().now("end to end: click to row at " + perSecond + "/s");
    int count = perSecond * seconds;
    Sale sale = lab.newSale(count);
    ReadyPurchases purchases = new ReadyPurchases(lab, sale, count);
    try (Ledger ledger = new Ledger(lab.mysql())) {
      RowWatch rows = RowWatch.start(ledger, LOOK);
      Loader.run(purchases.at(perSecond), rows::accepted);
      return rows.awaitRows();
    }
  }

  private static double ms(Histogram micros, double percentile) {
    return micros.getValueAtPercentile(percentile) / 1_000.0;
  }

  @Override
  public List<Row> rows() {
    return List.of(
        Row.of("end to end, sustained", SUSTAINED),
        Row.of("click to row at 100/s: p50", "e2e.click_to_row_p50_ms"),
        Row.of("click to row at 100/s: p99", "e2e.click_to_row_100_p99_ms"),
        Row.of("click to row at 1 000/s: p50", "e2e.click_to_row_1000_p50_ms"),
        Row.of("click to row at 1 000/s: p99", "e2e.click_to_row_p99_ms"),
        Row.of("click to row at 80 % of sustained: p50", "e2e.click_to_row_busy_p50_ms"),
        Row.of("click to row at 80 % of sustained: p99", "e2e.click_to_row_busy_p99_ms"));
  }
}
