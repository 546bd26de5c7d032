package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.SaleHistory;
import io.seckill.system.load.Loader;
import io.seckill.system.process.Service;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * What operators and shoppers wait for with one sale of many orders; and how fast orders of another
 * sale are stored meanwhile.
 */
record LargeSale(Lab lab) {

  private static final Growth ORDERS = Growth.ofCount("orders of one sale", "sale");
  private static final Growth PREHEAT =
      Growth.ofTime("preheat of as many units, one sale", "sale.preheat");
  private static final Growth REBUILD =
      Growth.ofTime("rebuild after the loss of Redis, one sale", "sale.rebuild");
  private static final Growth COMPARE =
      Growth.ofTime("comparison at rest, one sale", "sale.compare");
  private static final Growth ENTER = Growth.ofTime("entering a fallback, one sale", "sale.enter");
  private static final Growth ENTER_PAUSE =
      Growth.ofTime("nobody sells while a fallback is entered, one sale", "sale.enter_pause");
  private static final Growth LEAVE = Growth.ofTime("leaving a fallback, one sale", "sale.leave");
  private static final Growth LEAVE_PAUSE =
      Growth.ofTime("nobody sells while a fallback is left, one sale", "sale.leave_pause");
  private static final Growth ARCHIVE = Growth.ofTime("archive of a closed sale", "sale.archive");
  private static final Growth HEAP =
      new Growth("peak heap of order-consumer, one sale", "sale.heap", "_mb");

  private static final String STORED = "large.stored_";
  private static final String PER_SECOND = "_per_s";

  private static final long FIRST_SKU = 7_000_000;
  private static final int LIMIT = 5;
  private static final int LOAD_PER_SECOND = 1_000;
  private static final int LOAD_SECONDS = 240;
  private static final Duration LOOK = Duration.ofMillis(20);
  private static final Duration CALM = Duration.ofSeconds(2);

  static Stream<Row> rows() {
    return Stream.concat(
        Stream.of(
                ORDERS,
                PREHEAT,
                REBUILD,
                COMPARE,
                ENTER,
                ENTER_PAUSE,
                LEAVE,
                LEAVE_PAUSE,
                ARCHIVE,
                HEAP)
            .flatMap(Growth::rows),
        Stream.of(
            stored("nothing else is done", "alone"),
            stored("the largest sale is rebuilt", "rebuild"),
            stored("it is compared", "compare"),
            stored("it is archived", "archive")));
  }

  private static Row stored(String meanwhile, String name) {
    return Row.of(
        "stored at %d purchases/s of another sale while %s".formatted(LOAD_PER_SECOND, meanwhile),
        STORED + name + PER_SECOND);
  }

  void measure(Figures figures) throws Exception {
    long sku = FIRST_SKU;
    size(new Figures(), 1, sku); // compiles
    for (int times : Growth.TIMES) {
      sku += 2;
      long measured = sku;
      Figures heap = new Figures();
      HeapWatch.during(lab, heap, () -> size(figures, times, measured));
      heap.median(HeapWatch.key(Service.CONSUMER))
          .ifPresent(peak -> HEAP.add(figures, times, peak));
    }
    besideStoring(figures, sku + 2);
  }

  private void size(Figures figures, int times, long sku) throws Exception {
    AdminClient admin = lab.pipeline().admin();
    int orders = write(times * lab.settings().amount(10, 1), sku);
    ORDERS.add(figures, times, orders);
    lab.progress().now("large: a sale of %d orders".formatted(orders));
    long preheated = sku + 1;
    Growth.successful(() -> admin.putSku(preheated, PurchasePolicy.LIMITED, LIMIT, orders));
    PREHEAT.time(figures, times, () -> admin.preheat(preheated));
    Growth.successful(() -> admin.open(preheated));
    Growth.successful(() -> admin.close(preheated));
    REBUILD.time(figures, times, () -> admin.reconcile(sku));
    COMPARE.time(figures, times, () -> admin.reconcile(sku));
    try (SteadyShopper shopper = SteadyShopper.start(lab, sku)) {
      Waiting.pass(CALM);
      var unused = shopper.longestPauseMs();
      lab.progress().now("large: fallback of a sale of %d orders".formatted(orders));
      become("MYSQL", ENTER, figures, times, admin::enterFallback);
      ENTER_PAUSE.add(figures, times, shopper.longestPauseMs());
      Waiting.pass(CALM);
      become("REDIS", LEAVE, figures, times, admin::leaveFallback);
      LEAVE_PAUSE.add(figures, times, shopper.longestPauseMs());
    }
    lab.progress().now("large: archive of a sale of %d orders".formatted(orders));
    Growth.successful(() -> admin.close(sku));
    ArchivedSales.begin(lab, sku, () -> endPaymentTime(sku));
    long start = System.nanoTime();
    ArchivedSales.awaitDone(lab, sku);
    ARCHIVE.addSince(figures, times, start);
  }

  /** Redis has nothing of it yet. */
  private int write(int thousands, long sku) throws Exception {
    int orders = thousands * 1_000;
    lab.progress().now("large: writing a sale of %d orders".formatted(orders));
    try (Connection writer = Large.writer(lab)) {
      SaleHistory.write(writer, sku, orders, "OPEN", 1);
    }
    return orders;
  }

  /** Calls, and waits until that state of the fallback is reached. */
  private void become(
      String state, Growth growth, Figures figures, int times, Callable<Answer> call)
      throws Exception {
    long start = System.nanoTime();
    Growth.successful(call);
    Waiting.until(
        state,
        LOOK,
        Large.LONGEST,
        () -> lab.pipeline().admin().fallback().text("state").equals(state));
    growth.addSince(figures, times, start);
  }

  /** Makes what was bought old enough to expire: a sale is archived when nobody may pay. */
  private void endPaymentTime(long sku) throws Exception {
    try (Connection mysql = lab.mysql();
        Statement update = mysql.createStatement()) {
      update.executeUpdate(
          "UPDATE orders FORCE INDEX (ix_orders_status) SET created_at = created_at - INTERVAL 2 DAY"
              + " WHERE status = 'CONFIRMED' AND sku_id = "
              + sku);
    }
  }

  private void besideStoring(Figures figures, long sku) throws Exception {
    write(Growth.MOST * lab.settings().choose(10, 1), sku);
    AdminClient admin = lab.pipeline().admin();
    int count = LOAD_PER_SECOND * LOAD_SECONDS;
    BenchSale other = lab.newSale(count);
    ReadyPurchases purchases = new ReadyPurchases(lab, other, count);
    AtomicBoolean enough = new AtomicBoolean();
    CompletableFuture<Void> load = CompletableFuture.runAsync(() -> runUntil(enough, purchases));
    try (StoredRows rows = new StoredRows(lab.mysql())) {
      stored(figures, "warm_up", rows, other, () -> Waiting.pass(lab.settings().seconds(10, 5)));
      stored(figures, "alone", rows, other, () -> Waiting.pass(lab.settings().seconds(10, 5)));
      stored(figures, "rebuild", rows, other, () -> Growth.successful(() -> admin.reconcile(sku)));
      stored(figures, "compare", rows, other, () -> Growth.successful(() -> admin.reconcile(sku)));
      Growth.successful(() -> admin.close(sku));
      ArchivedSales.begin(lab, sku, () -> {});
      stored(figures, "archive", rows, other, () -> ArchivedSales.awaitDone(lab, sku));
    } finally {
      enough.set(true);
      load.orTimeout(1, TimeUnit.MINUTES).exceptionally(ended -> null).join();
    }
  }

  private void stored(Figures figures, String name, StoredRows rows, BenchSale sale, Work work)
      throws Exception {
    lab.progress().now("large: storing another sale: " + name);
    long before = rows.stored(sale);
    long start = System.nanoTime();
    work.run();
    double seconds = (System.nanoTime() - start) / 1e9;
    figures.add(STORED + name + PER_SECOND, (rows.stored(sale) - before) / seconds);
  }

  /** A load ends when its listener throws. */
  private static void runUntil(AtomicBoolean enough, ReadyPurchases purchases) {
    try {
      Loader.run(
          purchases.at(LOAD_PER_SECOND),
          answer -> {
            if (enough.get()) {
              throw new IllegalStateException("enough");
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
