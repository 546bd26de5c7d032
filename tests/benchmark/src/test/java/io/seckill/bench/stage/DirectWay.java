package io.seckill.bench.stage;

import io.seckill.bench.baseline.BatchSeller;
import io.seckill.bench.baseline.RowSeller;
import io.seckill.bench.baseline.RowSeller.Guard;
import io.seckill.bench.baseline.ScriptSeller;
import io.seckill.bench.baseline.Seller;
import io.seckill.bench.baseline.Shoppers;
import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.Sold;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Users;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.common.order.OrderMessage;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/** A way to sell without the services: shoppers call the store themselves. */
enum DirectWay implements Way {
  LOCK("SELECT FOR UPDATE", 5_000),
  VERSION("version and retry", 5_000),
  CONDITION("conditional update", 5_000),
  BATCHES("conditional update in batches", 30_000),
  SCRIPT("Redis script without an outbox", 60_000);

  private static final int SHOPPERS = 64;

  /** Of the check of promises: 320 purchases, each twice; quotas allow 200. */
  private static final int USERS = 40;

  private static final int KEYS = 8;
  private static final int UNITS = 100;
  private static final Duration ENOUGH = Duration.ofMinutes(1);

  private final String title;

  /** More than this machine can sell. */
  private final int mostPerSecond;

  private final String prefix = Alternatives.PREFIX + name().toLowerCase(Locale.ROOT) + "_64_";

  DirectWay(String title, int mostPerSecond) {
    this.title = title;
    this.mostPerSecond = mostPerSecond;
  }

  /** The sellers of a sale, and what they have recorded. */
  private record Till(Seller.Opener sellers, Callable<Sold> records, Runnable end)
      implements AutoCloseable {

    @Override
    public void close() {
      end.run();
    }
  }

  void warmUp(Lab lab, Figures figures) throws Exception {
    lab.progress().now("alternatives: warming up " + title);
    keepPromises(lab, figures);
    sell(lab, new Figures(), lab.settings().warmUp());
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly();
    lab.progress().now("alternatives: " + title);
    sell(lab, figures, lab.settings().seconds(6, 3));
  }

  private void sell(Lab lab, Figures figures, Duration run) throws Exception {
    int count = (int) (mostPerSecond * run.toSeconds());
    BenchSale sale = lab.newRowOnSale(count);
    MadeOrders purchases = new MadeOrders(List.of(sale), lab.newUsers(count));
    try (StoredRows database = new StoredRows(lab.mysql());
        Till till = open(lab, sale, database)) {
      long lockWaits = database.rowLockWaits();
      CpuTimes before = CpuTimes.now();
      Shoppers.Result result =
          Shoppers.buy(SHOPPERS, run, till.sellers, purchases.stream().iterator());
      before.addSince(figures, prefix + "per_s", result.accepted());
      double each = 1.0 / Math.max(1, result.accepted());
      figures.add(prefix + "lock_waits_per_order", (database.rowLockWaits() - lockWaits) * each);
      figures.add(prefix + "per_s", result.acceptedPerSecond());
      figures.add(prefix + "p50_ms", result.percentileMs(50));
      figures.add(prefix + "p99_ms", result.percentileMs(99));
      figures.add(prefix + "busy_percent", 100.0 * result.busy() / result.answers());
      till.records.call().count(figures, Alternatives.DEFECTS, sale, result.accepted());
    }
  }

  /**
   * Sells a few units to users who ask for more than their limit, each time twice; first all at
   * once, and then again one after the other, so that every purchase has been decided.
   */
  private void keepPromises(Lab lab, Figures figures) throws Exception {
    BenchSale sale = lab.newRowOnSale(UNITS);
    try (StoredRows database = new StoredRows(lab.mysql());
        Till till = open(lab, sale, database)) {
      List<OrderMessage> purchases = repeatedPurchases(sale, lab.newUsers(USERS * KEYS * 2L));
      long accepted = 0;
      for (int shoppers : List.of(SHOPPERS, 1)) {
        accepted += Shoppers.buy(shoppers, ENOUGH, till.sellers, purchases.iterator()).accepted();
      }
      Sold sold = till.records.call();
      sold.count(figures, Alternatives.DEFECTS, sale, accepted);
      figures.count(Alternatives.DEFECTS + ".wrong_answers", Math.abs(UNITS - sold.orders()));
    }
  }

  private static List<OrderMessage> repeatedPurchases(BenchSale sale, Users ids) {
    List<OrderMessage> made = new MadeOrders(List.of(sale), ids).stream().toList();
    return IntStream.range(0, made.size())
        .mapToObj(
            i -> {
              OrderMessage order = made.get(i);
              return new OrderMessage(
                  order.orderId(),
                  ids.first() + i / 2 % USERS,
                  order.skuId(),
                  1,
                  "purchase-" + i / 2 / USERS,
                  order.policy(),
                  order.epoch(),
                  order.seq(),
                  order.admittedAt(),
                  null);
            })
        .toList();
  }

  private Till open(Lab lab, BenchSale sale, StoredRows database) throws SQLException {
    return switch (this) {
      case LOCK -> rows(lab, sale, database, Guard.LOCK);
      case VERSION -> rows(lab, sale, database, Guard.VERSION);
      case CONDITION -> rows(lab, sale, database, Guard.STOCK);
      case BATCHES -> {
        BatchSeller seller = new BatchSeller(lab);
        yield new Till(
            () -> purchase -> seller.sell(purchase), () -> database.sold(sale), seller::close);
      }
      case SCRIPT -> {
        ScriptSeller seller = new ScriptSeller(lab.redis(), sale);
        yield new Till(() -> purchase -> seller.sell(purchase), seller::sold, seller::close);
      }
    };
  }

  /** Each shopper with a connection. */
  private static Till rows(Lab lab, BenchSale sale, StoredRows database, Guard guard) {
    return new Till(
        () -> new RowSeller(lab.mysql(), sale, guard), () -> database.sold(sale), () -> {});
  }

  @Override
  public List<Row> rows() {
    List<Row> rows =
        new ArrayList<>(
            List.of(
                Row.of(title + ", 64 shoppers: accepted", prefix + "per_s"),
                Row.of(title + ": p50", prefix + "p50_ms"),
                Row.of(title + ": p99", prefix + "p99_ms")));
    if (this != SCRIPT) {
      rows.add(Row.of(title + ": row lock waits per order", prefix + "lock_waits_per_order"));
      rows.add(Row.of(title + ": BUSY after three retries", prefix + "busy_percent"));
    }
    return rows;
  }
}
