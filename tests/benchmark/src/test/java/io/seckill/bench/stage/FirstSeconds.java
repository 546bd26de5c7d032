package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;

/** A gateway that has just become ready, and the same gateway once it is warm. No relay runs. */
final class FirstSeconds implements Stage {

  private static final String FIRST = "gateway.first_seconds_per_s";
  private static final String WARM = "gateway.warm_per_s";
  private static final int CONNECTIONS = 64;
  private static final Duration RUN = Duration.ofSeconds(3);

  @Override
  public String name() {
    return "start";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      PurchaseLoad load = PurchaseLoad.onGateway(lab);
      List<BenchSale> sales = load.newSales(RUN, 1); // on sale before the gateway starts
      lab.runOnly(Service.CONSUMER);
      lab.runOnly(Service.CONSUMER, Service.GATEWAY);
      lab.progress().now("start: the first seconds");
      load.accepted(figures, FIRST, CONNECTIONS, RUN, sales);
      lab.progress().now("start: warming up");
      Duration warmUp = lab.settings().warmUp();
      load.accepted(new Figures(), FIRST, CONNECTIONS, warmUp, load.newSales(warmUp, 1));
      lab.progress().now("start: warm");
      load.accepted(figures, WARM, CONNECTIONS, RUN, load.newSales(RUN, 1));
    }
  }

  @Override
  public List<Row> rows() {
    return List.of(
        new Row(
            "accepted in the first 3 s of a gateway that is ready",
            FIRST,
            List.of(new Against("the same gateway, warm", WARM))));
  }
}
