package io.seckill.bench.stage;

import io.seckill.bench.lab.BatchSizes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.process.Service;
import java.util.ArrayList;
import java.util.List;

/** All three services: orders per second from click to row, and the time of one order. */
final class EndToEnd implements Stage {

  private static final String SUSTAINED = "e2e.sustained_per_s";
  static final String LOST = "e2e.lost";
  private static final String BATCHES = "e2e.busy_";
  private static final double BUSY = 0.8;
  private static final int WARM_UP_PER_SECOND = 3_000;

  @Override
  public String name() {
    return "e2e";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    lab.progress().now("end to end: warming up");
    ClickToRow.at(lab, figures, WARM_UP_PER_SECOND, lab.settings().choose(12, 5));
    HeapWatch.during(lab, figures, () -> repeat(lab, figures));
  }

  private static void repeat(Lab lab, Figures figures) throws Exception {
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      measureOnce(lab, figures);
    }
  }

  private static void measureOnce(Lab lab, Figures figures) throws Exception {
    RateTrial trial = new RateTrial(lab, figures, lab.settings().seconds(10, 5));
    double sustained = new SustainedRate(trial, lab.settings().choose(3, 1)).search();
    figures.add(SUSTAINED, sustained);
    trial.cpu().addTo(figures, SUSTAINED);
    int seconds = lab.settings().choose(12, 4);
    for (Pace pace : List.of(Pace.SLOW, Pace.BRISK)) {
      pace.add(figures, ClickToRow.at(lab, figures, pace.perSecond, seconds));
    }
    if (sustained > 0) {
      BatchSizes sizes = BatchSizes.now(lab);
      Pace.BUSY.add(figures, ClickToRow.at(lab, figures, (int) (sustained * BUSY), seconds));
      sizes.addTo(figures, BATCHES);
    }
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>(List.of(Row.of("end to end, sustained", SUSTAINED)));
    for (Pace pace : Pace.values()) {
      rows.add(Row.of("click to row at " + pace.title + ": p50", pace.p50));
      rows.add(Row.of("click to row at " + pace.title + ": p99", pace.p99));
      rows.add(Row.of("click to row at " + pace.title + ": not accepted", pace.failed));
    }
    rows.add(Row.of("purchases in a script call, busy", BATCHES + "purchases_per_call"));
    rows.add(Row.of("orders published at once, busy", BATCHES + "orders_per_publish"));
    rows.add(Row.of("orders in a transaction, busy", BATCHES + "orders_per_transaction"));
    rows.add(Row.of("end to end: accepted and never stored", LOST));
    return rows;
  }

  /** Loads at which click to row is measured, and the keys of the results. */
  private enum Pace {
    SLOW("100/s", 100, "p50_ms", "100_p99_ms", "100_failed"),
    BRISK("1 000/s", 1_000, "1000_p50_ms", "p99_ms", "1000_failed"),
    BUSY("80 % of sustained", 0, "p50_busy_ms", "p99_busy_ms", "busy_failed");

    private static final String CLICK_TO_ROW = "e2e.click_to_row_";

    final String title;
    final int perSecond;
    final String p50;
    final String p99;
    final String failed;

    /**
     * @param perSecond 0 when it depends on an earlier measurement
     */
    Pace(String title, int perSecond, String p50, String p99, String failed) {
      this.title = title;
      this.perSecond = perSecond;
      this.p50 = CLICK_TO_ROW + p50;
      this.p99 = CLICK_TO_ROW + p99;
      this.failed = CLICK_TO_ROW + failed;
    }

    void add(Figures figures, ClickToRow result) {
      figures.add(p50, result.rowMs(50));
      figures.add(p99, result.rowMs(99));
      figures.count(failed, result.rows().failed());
    }
  }
}
