package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.report.Figures;
import io.seckill.bench.stage.RowWatch.Outcome;
import io.seckill.system.load.LoadAnswer;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * Purchases at a rate that does not follow the answers: the time of each from click to answer, and
 * from click to row.
 */
record ClickToRow(LoadResult answers, Outcome rows) {

  private static final Duration LOOK = Duration.ofMillis(2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Sees each order of the load; called from several threads. */
  interface Observer {

    /** Observes nothing. */
    Observer NONE = new Observer() {};

    default void answered(LoadAnswer answer) {}

    /** Another session has just seen the rows of these orders, perhaps not for the first time. */
    default void visible(List<Long> orderIds) {}

    /** All accepted orders are stored, or lost. */
    default void stored(StoredRows database, BenchSale sale) throws SQLException {}
  }

  /** Also waits until the accepted orders are stored, and counts the others as lost. */
  static ClickToRow at(Lab lab, Figures figures, int perSecond, int seconds) throws Exception {
    return at(lab, figures, perSecond, seconds, Observer.NONE);
  }

  static ClickToRow at(Lab lab, Figures figures, int perSecond, int seconds, Observer observer)
      throws Exception {
    lab.progress().now("end to end: click to row at " + perSecond + "/s");
    int count = perSecond * seconds;
    BenchSale sale = lab.newSale(count);
    ReadyPurchases purchases = new ReadyPurchases(lab, sale, count);
    try (StoredRows database = new StoredRows(lab.mysql())) {
      RowWatch rows =
          RowWatch.start(
              (first, last) -> {
                List<Long> seen = database.confirmedBetween(first, last);
                observer.visible(seen);
                return seen;
              },
              LOOK,
              PATIENCE);
      LoadResult answers =
          Loader.run(
              purchases.at(perSecond),
              answer -> {
                rows.answered(answer);
                observer.answered(answer);
              });
      Outcome outcome = rows.outcome(count);
      observer.stored(database, sale);
      figures.count(EndToEnd.LOST, outcome.lost());
      return new ClickToRow(answers, outcome);
    }
  }

  double rowMs(double percentile) {
    return rows.micros().getValueAtPercentile(percentile) / 1_000.0;
  }
}
