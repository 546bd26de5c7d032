package io.seckill.bench.stage;

import io.seckill.bench.baseline.DirectStore;
import io.seckill.bench.baseline.ManyThreads;
import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.OrderQueues;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.common.order.OrderMessage;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import redis.clients.jedis.AbstractPipeline;

/**
 * The consumer alone, from prefilled queues into MySQL, results to Redis included. It is frozen
 * while they are filled, and has stored orders before. The first orders in the queues are not
 * measured, and are more than its prefetch; the rate is that of the rows after them, by their times
 * in MySQL.
 */
final class ConsumerDrain implements Stage {

  private static final String ONE_SKU = "consumer.orders_per_s";
  private static final String MANY_SKUS = "consumer.orders_20_skus_per_s";
  private static final String JDBC = "jdbc.batches_per_s";
  private static final String ONE_BY_ONE = "consumer.one_by_one_per_s";
  private static final String LOST = "consumer.lost";
  private static final int SKUS = 20;
  private static final int WARM_UP = 40_000;
  private static final int CHUNK = 1_000;

  @Override
  public String name() {
    return "consumer";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    int count = lab.settings().choose(200_000, 140_000);
    DirectStore store = new DirectStore(lab);
    Duration run = lab.settings().seconds(6, 3);
    warmUp(lab, store);
    lab.settings()
        .repeatInTurns(
            List.of(
                () -> drain(lab, figures, ONE_SKU, 1, count),
                () -> batches(lab, figures, store, count),
                () -> drain(lab, figures, MANY_SKUS, SKUS, count),
                () -> oneByOne(lab, figures, store, run)));
  }

  /** Warms up each for the same time, without the time for filling the queues. */
  private static void warmUp(Lab lab, DirectStore store) throws Exception {
    Figures notKept = new Figures();
    Duration warmUp = lab.settings().warmUp();
    Duration drained = Duration.ZERO;
    while (drained.compareTo(warmUp) < 0) {
      drained = drained.plus(drain(lab, notKept, ONE_SKU, 1, WARM_UP));
    }
    long end = System.nanoTime() + warmUp.toNanos();
    while (System.nanoTime() < end) {
      batches(lab, notKept, store, WARM_UP);
    }
    oneByOne(lab, notKept, store, warmUp);
  }

  /**
   * @return the time for which it consumed
   */
  private static Duration drain(Lab lab, Figures figures, String rateKey, int skus, int count)
      throws Exception {
    List<BenchSale> aheadOf = lab.newSales(skus, count / 2);
    return drain(lab, figures, rateKey, aheadOf, lab.newSalesBeside(aheadOf, count), count);
  }

  /**
   * @param aheadOf sales of half as many orders, which are not measured, in the same partitions
   * @return the time for which it consumed
   */
  static Duration drain(
      Lab lab,
      Figures figures,
      String rateKey,
      List<BenchSale> aheadOf,
      List<BenchSale> sales,
      int count)
      throws Exception {
    lab.progress().now("consumer: filling the queues, " + sales.size() + " SKUs");
    int ahead = count / 2;
    List<OrderMessage> first = recorded(lab, new MadeOrders(aheadOf, lab.newUsers(ahead)));
    List<OrderMessage> measured = recorded(lab, new MadeOrders(sales, lab.newUsers(count)));
    try (OrderQueues queues = OrderQueues.open(lab.vhost())) {
      lab.whileFrozen(
          Service.CONSUMER,
          () -> {
            queues.publish(first);
            queues.publish(measured);
          });
    }
    lab.progress().now("consumer: storing " + count + " orders of " + sales.size() + " SKUs");
    long start = System.nanoTime();
    CpuTimes before = CpuTimes.now();
    try (StoredRows database = new StoredRows(lab.mysql())) {
      double lockWaits = database.rowLockWaits();
      Waiting.missing(count, () -> database.stored(sales));
      Duration drained = Duration.ofNanos(System.nanoTime() - start);
      before.addSince(figures, rateKey, ahead + count);
      figures.add(rateKey, database.rowsPerSecond(sales));
      figures.add("mysql.row_lock_waits", database.rowLockWaits() - lockWaits);
      figures.count(LOST, count - database.confirmed(sales));
      return drained;
    }
  }

  /**
   * Writes each order's admission record to Redis, which its result updates, and returns the
   * orders.
   */
  static List<OrderMessage> recorded(Lab lab, MadeOrders orders) {
    Map<Long, BenchSale> bySku =
        orders.sales().stream().collect(Collectors.toMap(BenchSale::skuId, Function.identity()));
    List<OrderMessage> all = orders.stream().toList();
    for (int from = 0; from < all.size(); from += CHUNK) {
      try (AbstractPipeline pipeline = lab.redis().pipelined()) {
        all.subList(from, Math.min(from + CHUNK, all.size()))
            .forEach(order -> Outbox.record(pipeline, bySku.get(order.skuId()), order));
        pipeline.sync();
      }
    }
    return all;
  }

  private static void batches(Lab lab, Figures figures, DirectStore store, int count)
      throws Exception {
    lab.progress().now("consumer: JDBC batches of 500 without broker");
    List<OrderMessage> orders = orders(lab, count).stream().toList();
    CpuTimes before = CpuTimes.now();
    figures.add(JDBC, store.batchesPerSecond(orders));
    before.addSince(figures, JDBC, count);
  }

  private static void oneByOne(Lab lab, Figures figures, DirectStore store, Duration run) {
    lab.progress().now("consumer: one order per transaction, 8 threads");
    int enough = (int) (10_000 * run.toSeconds());
    MadeOrders orders = orders(lab, enough);
    CpuTimes before = CpuTimes.now();
    ManyThreads.Result result = store.oneByOne(orders, run);
    figures.add(ONE_BY_ONE, result.perSecond());
    before.addSince(figures, ONE_BY_ONE, result.count());
  }

  private static MadeOrders orders(Lab lab, int count) {
    return new MadeOrders(List.of(lab.newSale(count)), lab.newUsers(count));
  }

  @Override
  public List<Row> rows() {
    return List.of(
        new Row(
            "consumer, one hot SKU, prefilled queue",
            ONE_SKU,
            List.of(
                new Against("JDBC batches of 500, no broker", JDBC),
                new Against("one order per transaction, 8 threads", ONE_BY_ONE))),
        new Row(
            "consumer, as many orders of 20 SKUs",
            MANY_SKUS,
            List.of(new Against("consumer, one hot SKU", ONE_SKU))),
        Row.of("row lock waits of the consumer", "mysql.row_lock_waits"),
        Row.of("consumer: orders that were not confirmed", LOST));
  }
}
