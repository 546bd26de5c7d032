package io.seckill.bench.stage;

import io.seckill.bench.baseline.BaselineServer;
import io.seckill.bench.baseline.DirectStore;
import io.seckill.bench.baseline.PerfTest;
import io.seckill.bench.baseline.RedisBenchmark;
import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.CpuCost;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.common.order.OrderMessage;
import io.seckill.system.process.Service;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Orders stored per second, from the first request to the last row: the pipeline and a strong sale
 * in turns through the same gateway, and between them the ceilings of all steps, whose CPU times
 * add up to that of an order without our code.
 */
final class Stored implements Stage {

  private static final String NAME = "stored";
  private static final List<Integer> CONNECTIONS = List.of(64, 256, 1_024);
  private static final int PUBLISHERS = 4;

  /** CPU time of all ceilings per order. */
  private static final String CEILINGS = NAME + ".ceilings_cpu_us";

  /** A step of an order without our code, and the process that does it. */
  private enum Step {
    HTTP("the HTTP stack without Redis", CpuCost.BASELINE),
    SCRIPT("redis-benchmark of admit.lua, 64 purchases a call", CpuCost.REDIS),
    BROKER("PerfTest, published and consumed", CpuCost.RABBITMQ),
    ROWS("JDBC batches of 500", CpuCost.MYSQL),
    RESULTS("results to Redis", CpuCost.REDIS);

    final String title;
    final CpuCost process;
    final String rate = NAME + "." + name().toLowerCase(Locale.ROOT) + "_per_s";

    Step(String title, CpuCost process) {
      this.title = title;
      this.process = process;
    }

    double cpuMicros(Figures figures) {
      return figures.median(process.key(rate)).orElseThrow();
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    try (BaselineServer baseline = BaselineServer.start(lab)) {
      List<Work> measures = new ArrayList<>();
      for (int connections : CONNECTIONS) {
        Stream.of(PipelineWay.values())
            .<Work>map(way -> () -> way.atOnce(lab, figures, NAME, connections))
            .forEach(measures::add);
      }
      Ceilings ceilings = new Ceilings(lab, figures, baseline);
      measures.addAll(ceilings.all());
      warmUp(lab, baseline);
      lab.settings().repeatInTurns(measures);
    }
    figures.add(
        CEILINGS, Stream.of(Step.values()).mapToDouble(step -> step.cpuMicros(figures)).sum());
  }

  private static void warmUp(Lab lab, BaselineServer baseline) throws Exception {
    Figures notKept = new Figures();
    for (PipelineWay way : PipelineWay.values()) {
      way.atOnce(lab, notKept, NAME, 256);
      way.atOnce(lab, notKept, NAME, 64);
    }
    PlainHttp.measure(notKept, Step.HTTP.rate, baseline, lab.settings().warmUp());
  }

  /** What each step costs without our code; the services run and are idle. */
  private record Ceilings(Lab lab, Figures figures, BaselineServer baseline) {

    List<Work> all() {
      return List.of(this::http, this::script, this::broker, this::rows, this::results);
    }

    private void now(Step step) {
      lab.progress().now("stored: " + step.title);
    }

    private void http() throws Exception {
      now(Step.HTTP);
      PlainHttp.measure(figures, Step.HTTP.rate, baseline, lab.settings().seconds(6, 3));
    }

    /** The relay stops meanwhile: it would publish what the script admits. */
    private void script() throws Exception {
      lab.runOnly(Service.CONSUMER, Service.GATEWAY);
      now(Step.SCRIPT);
      BenchSale sale = lab.newSale(lab.settings().choose(448_000, 128_000));
      RedisBenchmark.measure(lab, figures, Step.SCRIPT.rate, sale);
      Outbox outbox = new Outbox(lab.redis());
      outbox.clear();
      outbox.forget(sale);
      lab.runOnly(Service.values());
    }

    private void broker() throws Exception {
      now(Step.BROKER);
      List<BenchSale> sales =
          IntStream.range(0, PUBLISHERS).mapToObj(lane -> lab.newSale(lane, 1)).toList();
      int bytes = new MadeOrders(sales, lab.newUsers(1)).bytes();
      PerfTest.Load load = new PerfTest.Load(PUBLISHERS, 1, RelayDrain.WINDOW, bytes);
      int messages = lab.settings().choose(200_000, 100_000);
      PerfTest.measure(lab, figures, load, List.of(new PerfTest.Goal(Step.BROKER.rate, messages)));
    }

    private void rows() throws Exception {
      now(Step.ROWS);
      List<OrderMessage> orders = orders().stream().toList();
      CpuTimes before = CpuTimes.now();
      figures.add(Step.ROWS.rate, new DirectStore(lab).batchesPerSecond(orders));
      before.addSince(figures, Step.ROWS.rate, orders.size());
    }

    private void results() {
      now(Step.RESULTS);
      MadeOrders orders = orders();
      CpuTimes before = CpuTimes.now();
      long start = System.nanoTime();
      int count = ConsumerDrain.recorded(lab, orders).size();
      figures.add(Step.RESULTS.rate, count * 1e9 / (System.nanoTime() - start));
      before.addSince(figures, Step.RESULTS.rate, count);
    }

    private MadeOrders orders() {
      int count = lab.settings().choose(200_000, 60_000);
      return new MadeOrders(List.of(lab.newSale(count)), lab.newUsers(count));
    }
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (int connections : CONNECTIONS) {
      String strong = PipelineWay.STRONG.key(NAME, connections) + "stored_per_s";
      for (PipelineWay way : PipelineWay.values()) {
        String key = way.key(NAME, connections);
        String text = way.title() + ", " + connections + " connections: ";
        rows.add(
            new Row(
                text + "orders stored",
                key + "stored_per_s",
                way == PipelineWay.STRONG
                    ? List.of()
                    : List.of(new Against(PipelineWay.STRONG.title(), strong))));
        rows.add(
            new Row(
                text + "CPU time per order",
                CpuCost.total(key + "per_s"),
                List.of(new Against("all ceilings", CEILINGS))));
        rows.add(Row.of(text + "not stored at the last answer", key + "behind"));
        rows.add(Row.of(text + "not accepted", key + "refused"));
      }
    }
    rows.add(Row.of("CPU time per order of all ceilings", CEILINGS));
    for (Step step : Step.values()) {
      rows.add(Row.of("ceiling: " + step.title, step.rate));
    }
    for (String defect : List.of("lost", "doubled", "oversold", "broken_guarantees")) {
      rows.add(Row.of("stored: " + defect.replace('_', ' '), NAME + "." + defect));
    }
    return rows;
  }
}
