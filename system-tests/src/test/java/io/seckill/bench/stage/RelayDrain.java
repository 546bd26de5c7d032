package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.OrderQueues;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.bench.yardstick.OneByOneRelay;
import io.seckill.bench.yardstick.PerfTest;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The relay alone, from a prefilled outbox into quorum queues that nobody reads. Four partitions
 * with a queue each, so four lanes publish; PerfTest has four publishers and four queues too.
 * Between the drains, {@link RelayIdle}.
 */
final class RelayDrain implements Stage {

  private static final String ORDERS = "relay.orders_per_s";
  private static final String MILLION = "relay.million_orders_per_s";
  private static final int LANES = 4;
  private static final int WINDOW = 512;
  private static final int WARM_UP = 20_000;
  private static final Duration LOOK = Duration.ofMillis(20);

  @Override
  public String name() {
    return "relay";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    // The relay of the stages before goes on, if it runs.
    lab.runOnly(Service.values());
    List<Sale> sales =
        IntStream.range(0, LANES).mapToObj(partition -> lab.newSale(partition, 1_000)).toList();
    lab.runOnly(Service.GATEWAY, Service.RELAY);
    try (OrderQueues queues = OrderQueues.open(lab.vhost())) {
      drain(lab, queues, sales, WARM_UP, "warming up");
      for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
        measureOnce(lab, figures, queues, sales);
      }
      lab.runOnly(Service.GATEWAY);
      for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
        figures.add("relay.one_by_one_per_s", oneByOne(lab, queues, sales.get(0)));
      }
    }
  }

  private static void measureOnce(Lab lab, Figures figures, OrderQueues queues, List<Sale> sales)
      throws Exception {
    figures.add(ORDERS, drain(lab, queues, sales, 200_000, "200 000 orders"));
    figures.add(
        "relay.one_lane_orders_per_s",
        drain(lab, queues, sales.subList(0, 1), 100_000, "100 000 orders, one lane"));
    if (!lab.settings().quick()) {
      figures.add(MILLION, drain(lab, queues, sales, 1_000_000, "1 000 000 orders"));
    }
    RelayIdle.measure(lab, figures, sales);
    queues.purge();
    figures.add("perftest.published_per_s", perfTest(lab, sales.get(0), LANES));
    figures.add("perftest.one_published_per_s", perfTest(lab, sales.get(0), 1));
  }

  /** Orders per second, from the moment they are in the outbox to the last removal. */
  private static double drain(Lab lab, OrderQueues queues, List<Sale> sales, int count, String what)
      throws Exception {
    lab.progress().now("relay: filling the outbox, " + what);
    Outbox outbox = new Outbox(lab.redis());
    outbox.prepare(new MadeOrders(sales, lab.newUsers(count), count));
    lab.progress().now("relay: draining it, " + what);
    long start = System.nanoTime();
    outbox.release();
    Waiting.until("the outbox to be drained", LOOK, () -> outbox.waiting() == 0);
    double perSecond = count * 1e9 / (System.nanoTime() - start);
    queues.purge();
    return perSecond;
  }

  private static double perfTest(Lab lab, Sale sale, int publishers) throws Exception {
    lab.progress().now("relay: PerfTest with " + publishers + " publishers");
    int bytes =
        OrderMessageCodec.encode(
                new MadeOrders(List.of(sale), lab.newUsers(1), 1)
                    .stream().findFirst().orElseThrow())
            .length();
    return PerfTest.publishedPerSecond(
        lab.rabbitServer().newVhost(), publishers, WINDOW, bytes, lab.settings().seconds(6, 3));
  }

  private static double oneByOne(Lab lab, OrderQueues queues, Sale sale) throws Exception {
    lab.progress().now("relay: one confirm at a time, 20 threads");
    Duration run = lab.settings().seconds(6, 3);
    Outbox outbox = new Outbox(lab.redis());
    int enough = (int) (20_000 * run.toSeconds());
    outbox.prepare(new MadeOrders(List.of(sale), lab.newUsers(enough), enough));
    outbox.release();
    double perSecond = new OneByOneRelay(lab.redis(), sale.partition()).perSecond(lab, run);
    outbox.clear();
    queues.purge();
    return perSecond;
  }

  @Override
  public List<Row> rows() {
    return List.of(
        new Row(
            "relay, 200 000 orders prefilled, 4 lanes",
            ORDERS,
            List.of(
                new Against("PerfTest, 4 publishers, window 512", "perftest.published_per_s"),
                new Against("one confirm at a time, 20 threads", "relay.one_by_one_per_s"))),
        new Row(
            "relay, 1 000 000 orders prefilled, 4 lanes",
            MILLION,
            List.of(new Against("relay, 200 000 orders", ORDERS))),
        new Row(
            "relay, one hot SKU: one lane",
            "relay.one_lane_orders_per_s",
            List.of(
                new Against("PerfTest, 1 publisher, window 512", "perftest.one_published_per_s"))),
        Row.of("relay, idle: LPUSH to confirmed and removed: p50", RelayIdle.P50),
        Row.of("relay, idle: LPUSH to confirmed and removed: p99", RelayIdle.P99),
        Row.of("relay, idle: of one core, all lanes", RelayIdle.CPU));
  }
}
