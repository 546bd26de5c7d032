package io.seckill.bench.stage;

import io.seckill.bench.baseline.ManyThreads;
import io.seckill.bench.baseline.OneByOneRelay;
import io.seckill.bench.baseline.PerfTest;
import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.OrderQueues;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The relay alone, from a prefilled outbox into quorum queues without consumers. Four partitions
 * with a queue each, so four lanes publish; PerfTest has four publishers and four queues, the
 * baseline relay four partitions, queues and connections. While these run the relay is idle. At the
 * end, {@link RelayIdle}.
 */
final class RelayDrain implements Stage {

  private static final String ORDERS = "relay.orders_per_s";
  private static final String MILLION = "relay.million_orders_per_s";
  private static final String ONE_LANE = "relay.one_lane_orders_per_s";
  private static final String ONE_BY_ONE = "relay.one_by_one_per_s";
  private static final String PERF_TEST = "perftest.published_per_s";
  private static final String PERF_TEST_MILLION = "perftest.million_published_per_s";
  private static final String PERF_TEST_ONE = "perftest.one_published_per_s";
  private static final String LOST = "relay.lost";
  private static final int LANES = 4;
  static final int WINDOW = 512;
  private static final int MANY = 200_000;
  private static final int HALF = 100_000;
  private static final int MOST = 1_000_000;
  private static final Duration LOOK = Duration.ofMillis(20);

  @Override
  public String name() {
    return "relay";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    // A relay that runs from an earlier stage continues.
    lab.runOnly(Service.values());
    List<BenchSale> sales =
        IntStream.range(0, LANES).mapToObj(partition -> lab.newSale(partition, 1_000)).toList();
    lab.runOnly(Service.GATEWAY, Service.RELAY);
    try (OrderQueues queues = OrderQueues.open(lab.vhost())) {
      new Relays(lab, figures, queues, sales).measure();
    }
  }

  /** Measures from the moment the orders are in the outbox to the last removal. */
  static void drain(
      Lab lab,
      Figures into,
      OrderQueues queues,
      String lostKey,
      String rateKey,
      List<BenchSale> from,
      int count)
      throws Exception {
    lab.progress().now("relay: filling the outbox with " + count + " orders");
    Outbox outbox = new Outbox(lab.redis());
    outbox.prepare(new MadeOrders(from, lab.newUsers(count)));
    lab.progress().now("relay: draining them, " + from.size() + " lanes");
    CpuTimes before = CpuTimes.now();
    long start = System.nanoTime();
    outbox.release();
    Waiting.until("the outbox to be drained", LOOK, () -> outbox.waiting() == 0);
    into.add(rateKey, count * 1e9 / (System.nanoTime() - start));
    before.addSince(into, rateKey, count);
    into.count(lostKey, count - queues.takeAll());
  }

  /** The relay, its ceiling and its baseline, over the same queues. */
  private record Relays(Lab lab, Figures figures, OrderQueues queues, List<BenchSale> sales) {

    void measure() throws Exception {
      warmUp();
      List<Work> measures =
          new ArrayList<>(
              List.of(
                  () -> drain(ORDERS, sales, MANY),
                  () -> perfTest(LANES, goals()),
                  () -> drain(ONE_LANE, sales.subList(0, 1), HALF),
                  () -> perfTest(1, List.of(new PerfTest.Goal(PERF_TEST_ONE, HALF))),
                  () -> oneByOne(figures, lab.settings().seconds(6, 3))));
      if (!lab.settings().quick()) {
        measures.add(2, () -> drain(MILLION, sales, MOST));
      }
      lab.settings().repeatInTurns(measures);
      for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
        RelayIdle.measure(lab, figures, sales);
        queues.purge();
      }
    }

    private void warmUp() throws Exception {
      long end = System.nanoTime() + lab.settings().warmUp().toNanos();
      while (System.nanoTime() < end) {
        drain(new Figures(), "warm-up_per_s", sales, HALF);
      }
      oneByOne(new Figures(), lab.settings().warmUp());
    }

    private List<PerfTest.Goal> goals() {
      PerfTest.Goal many = new PerfTest.Goal(PERF_TEST, MANY);
      return lab.settings().quick()
          ? List.of(many)
          : List.of(many, new PerfTest.Goal(PERF_TEST_MILLION, MOST));
    }

    private void drain(String rateKey, List<BenchSale> from, int count) throws Exception {
      drain(figures, rateKey, from, count);
    }

    private void drain(Figures into, String rateKey, List<BenchSale> from, int count)
        throws Exception {
      RelayDrain.drain(lab, into, queues, LOST, rateKey, from, count);
    }

    private void perfTest(int publishers, List<PerfTest.Goal> goals) throws Exception {
      lab.progress().now("relay: PerfTest with " + publishers + " publishers");
      PerfTest.Load load =
          new PerfTest.Load(publishers, 0, WINDOW, new MadeOrders(sales, lab.newUsers(1)).bytes());
      PerfTest.measure(lab, figures, load, goals);
    }

    private void oneByOne(Figures into, Duration run) throws Exception {
      lab.progress().now("relay: one confirm at a time, 20 threads");
      Outbox outbox = new Outbox(lab.redis());
      int enough = (int) (20_000 * run.toSeconds());
      outbox.prepare(new MadeOrders(sales, lab.newUsers(enough)));
      CpuTimes before = CpuTimes.now();
      ManyThreads.Result result =
          new OneByOneRelay(lab.redis(), sales.stream().map(BenchSale::partition).toList())
              .run(lab, run);
      into.add(ONE_BY_ONE, result.perSecond());
      before.addSince(into, ONE_BY_ONE, result.count());
      outbox.discardPrepared();
      queues.purge();
    }
  }

  @Override
  public List<Row> rows() {
    Against perfTest =
        new Against("PerfTest, 4 publishers, window 512, one order a message", PERF_TEST);
    return List.of(
        new Row(
            "relay, 200 000 orders prefilled, 4 lanes",
            ORDERS,
            List.of(perfTest, new Against("one confirm at a time, 20 threads", ONE_BY_ONE))),
        new Row(
            "relay, 1 000 000 orders prefilled, 4 lanes",
            MILLION,
            List.of(
                new Against("PerfTest, as many messages of one order", PERF_TEST_MILLION),
                new Against("relay, 200 000 orders", ORDERS))),
        new Row(
            "relay, one hot SKU: one lane",
            ONE_LANE,
            List.of(
                new Against(
                    "PerfTest, 1 publisher, window 512, one order a message", PERF_TEST_ONE))),
        Row.of("relay: orders that reached no queue", LOST),
        Row.of("relay, idle: LPUSH to confirmed and removed: p50", RelayIdle.P50),
        Row.of("relay, idle: LPUSH to confirmed and removed: p99", RelayIdle.P99),
        Row.of("relay, idle: of one core, all lanes", RelayIdle.CPU));
  }
}
