package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Ledger;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.OrderQueues;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.bench.yardstick.DirectStore;
import io.seckill.common.order.OrderMessage;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import redis.clients.jedis.AbstractPipeline;

/**
 * The consumer alone, from prefilled queues into MySQL, results to Redis included. It stands still
 * while they are filled, and has stored orders before. The first ones in them are not measured and
 * more than it may have in hand; the rate is that of the rows after them, by their times in MySQL.
 */
final class ConsumerDrain implements Stage {

  private static final String ONE_SKU = "consumer.orders_per_s";
  private static final String MANY_SKUS = "consumer.orders_20_skus_per_s";
  private static final int SKUS = 20;
  private static final int CHUNK = 1_000;
  private static final Duration LOOK = Duration.ofMillis(200);

  @Override
  public String name() {
    return "consumer";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    int count = lab.settings().choose(200_000, 60_000);
    // Not measured: the compilers' share falls from one drain to the next.
    drain(lab, 1, count / 2);
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      // Turn about, so that a machine that becomes slower or faster favours neither.
      for (int skus : repeat % 2 == 0 ? List.of(1, SKUS) : List.of(SKUS, 1)) {
        figures.add(skus == 1 ? ONE_SKU : MANY_SKUS, drain(lab, skus, count));
      }
    }
    figures.add("mysql.row_lock_waits", rowLockWaits(lab));
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      measureDatabase(lab, figures);
    }
  }

  private static double drain(Lab lab, int skus, int count) throws Exception {
    lab.progress().now("consumer: filling the queues, " + skus + " SKUs");
    List<Sale> warmUp = lab.newSales(skus, count);
    List<Sale> sales = lab.newSalesBeside(warmUp, count);
    List<OrderMessage> first =
        recorded(lab, new MadeOrders(warmUp, lab.newUsers(count / 2), count / 2));
    List<OrderMessage> measured = recorded(lab, new MadeOrders(sales, lab.newUsers(count), count));
    try (OrderQueues queues = OrderQueues.open(lab.vhost())) {
      lab.whileFrozen(
          Service.CONSUMER,
          () -> {
            queues.publish(first);
            queues.publish(measured);
          });
    }
    lab.progress().now("consumer: storing " + count + " orders of " + skus + " SKUs");
    try (Ledger ledger = new Ledger(lab.mysql())) {
      Waiting.until("all orders to be stored", LOOK, () -> ledger.stored(sales) >= count);
      return ledger.rowsPerSecond(sales);
    }
  }

  /** The orders, each with the admission record in Redis that its result is written over. */
  private static List<OrderMessage> recorded(Lab lab, MadeOrders orders) {
    Map<Long, Sale> bySku =
        orders.sales().stream().collect(Collectors.toMap(Sale::skuId, Function.identity()));
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

  private static void measureDatabase(Lab lab, Figures figures) throws Exception {
    lab.progress().now("consumer: JDBC batches of 500 without broker");
    int count = lab.settings().choose(200_000, 60_000);
    DirectStore store = new DirectStore(lab);
    figures.add("jdbc.batches_per_s", store.batchesPerSecond(orders(lab, count)));
    lab.progress().now("consumer: one order per transaction, 8 threads");
    Duration run = lab.settings().seconds(6, 3);
    int enough = (int) (10_000 * run.toSeconds());
    figures.add("consumer.one_by_one_per_s", store.oneByOnePerSecond(orders(lab, enough), run));
  }

  private static MadeOrders orders(Lab lab, int count) {
    return new MadeOrders(List.of(lab.newSale(count)), lab.newUsers(count), count);
  }

  private static double rowLockWaits(Lab lab) throws Exception {
    try (var mysql = lab.mysql();
        var statement = mysql.createStatement();
        var rows = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'")) {
      rows.next();
      return rows.getDouble(2);
    }
  }

  @Override
  public List<Row> rows() {
    return List.of(
        new Row(
            "consumer, one hot SKU, prefilled queue",
            ONE_SKU,
            List.of(
                new Against("JDBC batches of 500, no broker", "jdbc.batches_per_s"),
                new Against("one order per transaction, 8 threads", "consumer.one_by_one_per_s"))),
        new Row(
            "consumer, as many orders of 20 SKUs",
            MANY_SKUS,
            List.of(new Against("consumer, one hot SKU", ONE_SKU))),
        Row.of("row lock waits of the consumer", "mysql.row_lock_waits"));
  }
}
