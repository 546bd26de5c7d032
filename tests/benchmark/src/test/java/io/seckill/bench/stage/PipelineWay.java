package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import io.seckill.system.process.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A way to sell through the services, as shoppers see it: HTTP to the gateway. */
enum PipelineWay implements Way {
  /** Answered 201 when the order is in MySQL. */
  STRONG("strong sale", "confirmed"),
  /** Answered 202 when the order is in Redis. */
  QUEUED("pipeline", "queued");

  private static final List<Integer> CONNECTIONS = List.of(64, 256);
  private static final int PER_SECOND = 2_000;

  private final String title;
  private final String answer;
  private final String paced = key(Alternatives.DEFECTS, PER_SECOND);

  PipelineWay(String title, String answer) {
    this.title = title;
    this.answer = answer;
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.progress().now("alternatives: " + title);
    lab.runOnly(services());
    atOnce(lab, new Figures(), Alternatives.DEFECTS, 256); // compiles what was just started
    for (int connections : CONNECTIONS) {
      atOnce(lab, figures, Alternatives.DEFECTS, connections);
    }
    atARate(lab, figures);
  }

  String title() {
    return title;
  }

  private Service[] services() {
    return this == STRONG ? new Service[] {Service.CONSUMER, Service.GATEWAY} : Service.values();
  }

  private BenchSale newSale(Lab lab, int count) {
    return this == STRONG ? lab.newStrongSale(count) : lab.newSale(count);
  }

  /** Returns the start of the keys of a closed loop. */
  String key(String stage, int connections) {
    return stage + "." + name().toLowerCase(Locale.ROOT) + "_" + connections + "_";
  }

  /** Sells in a closed loop; the services run. */
  void atOnce(Lab lab, Figures figures, String stage, int connections) throws Exception {
    lab.progress().now(stage + ": " + title + ", " + connections + " connections");
    BenchSale sale = newSale(lab, lab.settings().choose(60_000, 20_000));
    String key = key(stage, connections);
    try (StoredRows database = new StoredRows(lab.mysql())) {
      double lockWaits = database.rowLockWaits();
      LoadResult result =
          new ClosedLoop(lab, figures, stage + ".lost").buy(key + "per_s", sale, connections);
      long accepted = ClosedLoop.accepted(result);
      figures.add(
          key + "lock_waits_per_order",
          (database.rowLockWaits() - lockWaits) / Math.max(1, accepted));
      figures.add(key + "p50_ms", result.percentileMs(50));
      figures.add(key + "p99_ms", result.percentileMs(99));
      database.sold(sale).count(figures, stage, sale, accepted);
    }
  }

  private void atARate(Lab lab, Figures figures) throws Exception {
    lab.progress().now("alternatives: " + title + ", " + PER_SECOND + "/s");
    int seconds = lab.settings().choose(10, 4);
    CpuTimes before = CpuTimes.now();
    LoadResult result;
    if (this == STRONG) {
      int count = PER_SECOND * seconds;
      BenchSale sale = newSale(lab, count);
      result = Loader.run(new ReadyPurchases(lab, sale, count).at(PER_SECOND), answer -> {});
    } else {
      ClickToRow timed = ClickToRow.at(lab, figures, PER_SECOND, seconds);
      result = timed.answers();
      figures.add(paced + "row_p50_ms", timed.rowMs(50));
      figures.add(paced + "row_p99_ms", timed.rowMs(99));
    }
    long accepted = ClosedLoop.accepted(result);
    before.addSince(figures, paced + "per_s", accepted);
    figures.count(paced + "refused", (long) PER_SECOND * seconds - accepted);
    figures.add(paced + "p50_ms", result.percentileMs(50));
    figures.add(paced + "p99_ms", result.percentileMs(99));
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (int connections : CONNECTIONS) {
      String key = key(Alternatives.DEFECTS, connections);
      String text = title + ", " + connections + " connections: ";
      rows.add(Row.of(text + "accepted", key + "per_s"));
      rows.add(Row.of(text + "p50", key + "p50_ms"));
      rows.add(Row.of(text + "p99", key + "p99_ms"));
      rows.add(Row.of(text + "row lock waits per order", key + "lock_waits_per_order"));
      rows.add(Row.of(text + "not accepted", key + "refused"));
    }
    String click = title + " at 2 000/s: click to ";
    rows.add(Row.of(click + answer + ": p50", paced + "p50_ms"));
    rows.add(Row.of(click + answer + ": p99", paced + "p99_ms"));
    if (this == QUEUED) {
      rows.add(Row.of(click + "row: p50", paced + "row_p50_ms"));
      rows.add(Row.of(click + "row: p99", paced + "row_p99_ms"));
    }
    rows.add(Row.of(title + " at 2 000/s: not accepted", paced + "refused"));
    return rows;
  }
}
