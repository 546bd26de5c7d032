package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.report.Figures;
import io.seckill.bench.stage.RowWatch.Outcome;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import java.time.Duration;

/**
 * Purchases at a rate that does not follow the answers: the time of each from click to answer, and
 * from click to row.
 */
record ClickToRow(LoadResult answers, Outcome rows) {

  private static final Duration LOOK = Duration.ofMillis(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Also waits until the accepted orders are stored, and counts the others as lost. */
  static ClickToRow at(Lab lab, Figures figures, int perSecond, int seconds) throws Exception {
    lab.progress().now("end to end: click to row at " + perSecond + "/s");
    int count = perSecond * seconds;
    BenchSale sale = lab.newSale(count);
    ReadyPurchases purchases = new ReadyPurchases(lab, sale, count);
    try (StoredRows database = new StoredRows(lab.mysql())) {
      RowWatch rows = RowWatch.start(database::confirmedBetween, LOOK, PATIENCE);
      LoadResult answers = Loader.run(purchases.at(perSecond), rows::answered);
      Outcome outcome = rows.outcome(count);
      figures.count(EndToEnd.LOST, outcome.lost());
      return new ClickToRow(answers, outcome);
    }
  }

  double rowMs(double percentile) {
    return rows.micros().getValueAtPercentile(percentile) / 1_000.0;
  }
}
