package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import java.util.List;

/** One of the {@link Alternatives}. */
interface Way {

  /** Measures it once; starts and stops the services that it needs. */
  void measure(Lab lab, Figures figures) throws Exception;

  List<Row> rows();
}
