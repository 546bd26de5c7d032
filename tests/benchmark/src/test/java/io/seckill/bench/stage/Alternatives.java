package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.process.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The known ways to sell one hot SKU, in turns: from a row lock per purchase to the pipeline. */
final class Alternatives implements Stage {

  static final String DEFECTS = "alternatives";
  static final String PREFIX = DEFECTS + ".";

  private static final List<Way> WAYS =
      Stream.<Way>concat(Stream.of(DirectWay.values()), Stream.of(PipelineWay.values())).toList();

  @Override
  public String name() {
    return "alternatives";
  }

  @Override
  public boolean isOnRequest() {
    return true;
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER); // creates the tables
    lab.runOnly();
    for (DirectWay way : DirectWay.values()) {
      way.warmUp(lab, figures);
    }
    lab.settings()
        .repeatInTurns(WAYS.stream().<Work>map(way -> () -> way.measure(lab, figures)).toList());
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>(WAYS.stream().flatMap(way -> way.rows().stream()).toList());
    for (String defect :
        List.of("lost", "doubled", "oversold", "wrong_answers", "broken_guarantees")) {
      rows.add(Row.of("alternatives: " + defect.replace('_', ' '), PREFIX + defect));
    }
    return rows;
  }
}
