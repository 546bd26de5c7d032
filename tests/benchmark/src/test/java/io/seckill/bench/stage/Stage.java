package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import java.util.List;

/** One stage of the pipeline, measured together with its ceiling and its baseline. */
public interface Stage {

  /** The name for {@code --only}. */
  String name();

  /**
   * Measures everything of {@link #rows()}, as often as the lab's settings say, and leaves no
   * orders in transit.
   */
  void measure(Lab lab, Figures figures) throws Exception;

  /** Whether it is measured only when {@code --only} names it. */
  default boolean isOnRequest() {
    return false;
  }

  /** The rows of the report. */
  List<Row> rows();

  /** All stages, in an order with few stops and starts of services in between. */
  static List<Stage> asMeasured() {
    return List.of(
        new AdmissionAccepted(),
        new AdmissionRefused(),
        new FirstSeconds(),
        new ConsumerDrain(),
        new Memory(),
        new EndToEnd(),
        new Stored(),
        new Burst(),
        new RelayDrain(),
        new AfterSale(),
        new Slowest(),
        new Channels(),
        new Alternatives(),
        new StockShards(),
        new WalletStage(),
        new Large());
  }

  /** All stages, in the order of the pipeline. */
  static List<Stage> all() {
    return List.of(
        new AdmissionAccepted(),
        new AdmissionRefused(),
        new FirstSeconds(),
        new RelayDrain(),
        new ConsumerDrain(),
        new EndToEnd(),
        new Stored(),
        new Burst(),
        new AfterSale(),
        new Memory(),
        new Slowest(),
        new Channels(),
        new Alternatives(),
        new StockShards(),
        new WalletStage(),
        new Large());
  }
}
