package io.seckill.bench.stage;

import static io.seckill.testing.Rows.number;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.SaleHistory;
import io.seckill.system.shop.Answer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;

/** What a sale and its operators wait for while the rows of finished sales are in MySQL. */
record SalesBehind(Lab lab) {

  private static final Growth ORDERS = Growth.ofCount("orders of finished sales", "behind");
  private static final Growth PREHEAT =
      Growth.ofTime("preheat of 1 000 000 units, finished sales", "behind.preheat");
  private static final Growth ROW =
      Growth.ofTime("purchase to row, one shopper, finished sales", "behind.row");
  private static final Growth LEDGER = Growth.ofTime("ledger, finished sales", "behind.ledger");
  private static final Growth AUDIT =
      Growth.ofTime("audit of a sale, finished sales", "behind.audit");
  private static final Growth PRODUCTS =
      Growth.ofTime("operators' list, finished sales", "behind.products");
  private static final Growth LIST =
      Growth.ofTime("list of a user of a finished sale, finished sales", "behind.list");
  private static final Growth STATUS =
      Growth.ofTime("status of an order of a finished sale, finished sales", "behind.status");

  private static final int ORDERS_OF_EACH = 10_000;
  private static final long FIRST_FINISHED = 5_000_000;
  private static final long FIRST_PREHEATED = 6_000_000;
  private static final int PREHEATED_UNITS = 1_000_000;
  private static final int PREHEATS = 3;
  private static final int PURCHASES = 200;
  private static final int CALLS = 20;
  private static final Duration LOOK = Duration.ofMillis(2);

  static Stream<Row> rows() {
    return Stream.concat(
        ORDERS.rows(),
        Stream.concat(
            Stream.of(PREHEAT, ROW, LEDGER, AUDIT, PRODUCTS).flatMap(Growth::rowsFromNothing),
            Stream.of(LIST, STATUS).flatMap(Growth::rows)));
  }

  /** Each time of what is measured once is the median of many, so there is no other repeat. */
  void measure(Figures figures) throws Exception {
    long sku = FIRST_PREHEATED;
    sku = round(new Figures(), 0, sku); // compiles
    sku = round(figures, 0, sku);
    int finished = 0;
    for (int times : Growth.TIMES) {
      int wanted = times * lab.settings().amount(10, 1);
      lab.progress().now("large: writing the orders of %d finished sales".formatted(wanted));
      try (Connection writer = Large.writer(lab)) {
        SaleHistory.writeFinished(
            writer,
            FIRST_FINISHED + finished,
            wanted - finished,
            ORDERS_OF_EACH,
            !lab.settings().tenfold());
      }
      finished = wanted;
      ORDERS.add(figures, times, (double) finished * ORDERS_OF_EACH);
      sku = round(figures, times, sku);
      readOrders(figures, times);
    }
  }

  /**
   * @return the next SKU to preheat
   */
  private long round(Figures figures, int times, long firstSku) throws Exception {
    lab.progress().now("large: with finished sales, " + times + " x");
    var admin = lab.pipeline().admin();
    for (long sku = firstSku; sku < firstSku + PREHEATS; sku++) {
      long preheated = sku;
      Growth.successful(() -> admin.putSku(preheated, PurchasePolicy.LIMITED, 5, PREHEATED_UNITS));
      PREHEAT.time(figures, times, () -> admin.preheat(preheated));
    }
    BenchSale sale = lab.newSale(PURCHASES);
    buy(figures, times, sale);
    for (int call = 0; call < CALLS; call++) {
      LEDGER.time(figures, times, () -> admin.ledger(sale.skuId()));
      AUDIT.time(figures, times, () -> admin.audit(sale.skuId()));
      PRODUCTS.time(figures, times, admin::products);
    }
    return firstSku + PREHEATS;
  }

  /** One after the other, so that no purchase waits for another. */
  private void buy(Figures figures, int times, BenchSale sale) throws Exception {
    long first = lab.newUsers(PURCHASES).first();
    try (Connection mysql = lab.mysql();
        Statement statement = mysql.createStatement()) {
      for (long user = first; user < first + PURCHASES; user++) {
        long start = System.nanoTime();
        Answer answer = lab.pipeline().shop().buy(user, sale.skuId(), 1, "large-" + user);
        if (answer.status() != 202) {
          throw new IllegalStateException("refused: " + answer);
        }
        String row = "SELECT 1 FROM orders WHERE order_id = " + answer.text("orderId");
        Waiting.until("the row", LOOK, () -> statement.executeQuery(row).next());
        ROW.addSince(figures, times, start);
      }
    }
  }

  /** Of users whose orders Redis does not have. */
  private void readOrders(Figures figures, int times) throws Exception {
    var shop = lab.pipeline().shop();
    for (int index = 0; index < CALLS; index++) {
      long user = SaleHistory.user(FIRST_FINISHED, ORDERS_OF_EACH, index);
      LIST.time(figures, times, () -> shop.ordersOf(user));
      String order = firstOrder(user);
      STATUS.time(figures, times, () -> shop.order(user, order));
    }
  }

  private String firstOrder(long user) throws SQLException {
    try (Connection mysql = lab.mysql()) {
      return Long.toString(
          number(mysql, "SELECT MIN(order_id) FROM orders WHERE user_id = ?", user));
    }
  }
}
