package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import java.util.List;

/** One stage of the pipeline, measured beside its ceiling and the obvious design. */
public interface Stage {

  /** For {@code --only}. */
  String name();

  /**
   * Measures everything of {@link #rows()}, as often as the lab's settings say, and leaves no
   * orders on the move.
   */
  void measure(Lab lab, Figures figures) throws Exception;

  /** What the report shows of it. */
  List<Row> rows();

  /** All of them, so that few services are stopped and started in between. */
  static List<Stage> asMeasured() {
    return List.of(
        new AdmissionAccepted(),
        new AdmissionRefused(),
        new FirstSeconds(),
        new ConsumerDrain(),
        new Memory(),
        new EndToEnd(),
        new Burst(),
        new RelayDrain());
  }

  /** All of them, in the order of the pipeline. */
  static List<Stage> all() {
    return List.of(
        new AdmissionAccepted(),
        new AdmissionRefused(),
        new FirstSeconds(),
        new RelayDrain(),
        new ConsumerDrain(),
        new EndToEnd(),
        new Burst(),
        new Memory());
  }
}
