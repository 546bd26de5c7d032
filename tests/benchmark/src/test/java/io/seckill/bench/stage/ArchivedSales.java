package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.CpuCost;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.shop.Answer;
import io.seckill.testing.Rows;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/** What sales that were archived still cost. */
record ArchivedSales(Lab lab) {

  private static final Growth SALES = Growth.ofCount("archived sales", "archived");
  private static final Growth MEMORY =
      new Growth("Redis memory more than before, archived sales", "archived.redis", "_bytes");
  private static final Growth IDLE =
      new Growth("gateway without traffic: of one core, archived sales", "archived", "_percent");
  private static final Growth PRODUCTS =
      Growth.ofTime("operators' list, archived sales", "archived.products");

  private static final Duration LOOK = Duration.ofMillis(500);
  private static final int CALLS = 20;
  private static final int UNITS = 1_000;

  static Stream<Row> rows() {
    return Stream.of(SALES, MEMORY, IDLE, PRODUCTS).flatMap(Growth::rows);
  }

  void measure(Figures figures) throws Exception {
    long before = Memory.usedBytes(lab.redis());
    int archived = 0;
    for (int times : Growth.TIMES) {
      int wanted = times * lab.settings().choose(10, 2);
      lab.progress().now("large: archiving sales up to " + wanted);
      archive(lab.newSales(wanted - archived, UNITS));
      archived = wanted;
      SALES.add(figures, times, archived);
      IDLE.add(figures, times, lab.idlePercent(CpuCost.GATEWAY));
      MEMORY.add(figures, times, Memory.usedBytes(lab.redis()) - (double) before);
      for (int call = 0; call < CALLS; call++) {
        PRODUCTS.time(figures, times, lab.pipeline().admin()::products);
      }
    }
  }

  private void archive(List<BenchSale> sales) throws Exception {
    var admin = lab.pipeline().admin();
    for (BenchSale sale : sales) {
      Growth.successful(() -> admin.close(sale.skuId()));
      begin(lab, sale.skuId(), () -> {});
    }
    for (BenchSale sale : sales) {
      awaitDone(lab, sale.skuId());
    }
  }

  /**
   * Begins to archive a closed sale as soon as it is at rest.
   *
   * @param beforeEach before each attempt
   */
  static void begin(Lab lab, long sku, Work beforeEach) {
    Answer[] last = new Answer[1];
    try {
      Waiting.until(
          "a sale to be at rest",
          LOOK,
          () -> {
            beforeEach.run();
            last[0] = lab.pipeline().admin().archive(sku);
            return last[0].status() / 100 == 2;
          });
    } catch (ConditionTimeoutException e) {
      throw new IllegalStateException("not at rest: " + last[0], e);
    }
  }

  static void awaitDone(Lab lab, long sku) throws Exception {
    try (Connection mysql = lab.mysql()) {
      Waiting.until(
          "a sale to be archived",
          LOOK,
          Large.LONGEST,
          () ->
              Rows.number(
                      mysql,
                      "SELECT COUNT(*) FROM archive WHERE sku_id = ? AND phase = 'DONE'",
                      sku)
                  == 1);
    }
  }
}
