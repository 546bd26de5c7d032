package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import java.util.List;

/**
 * As many purchases as a sale has units, as fast as answers come.
 *
 * @param lostKey counts accepted purchases that were never stored
 */
record ClosedLoop(Lab lab, Figures figures, String lostKey) {

  /**
   * Adds under keys that begin as the key of the rate: the accepted purchases per second, the
   * number of others, the orders stored per second from the first request to the last row, the
   * orders that were not stored yet when the last purchase was answered, and the CPU time per
   * accepted purchase until the last row.
   */
  LoadResult buy(String rateKey, BenchSale sale, int connections) throws Exception {
    return buy(rateKey, List.of(sale), (int) sale.stock(), connections);
  }

  /** The same with so many purchases, from these sales in turn. */
  LoadResult buy(String rateKey, List<BenchSale> sales, int count, int connections)
      throws Exception {
    ReadyPurchases purchases = new ReadyPurchases(lab, sales, count);
    try (StoredRows database = new StoredRows(lab.mysql())) {
      CpuTimes before = CpuTimes.now();
      long start = System.nanoTime();
      LoadResult result = Loader.run(purchases.asap(connections), answer -> {});
      long accepted = accepted(result);
      figures.count(
          rateKey.replace("_per_s", "_behind"), Math.max(0, accepted - database.stored(sales)));
      figures.count(lostKey, Waiting.missing(accepted, () -> database.stored(sales)));
      figures.add(
          rateKey.replace("_per_s", "_stored_per_s"), accepted * 1e9 / (System.nanoTime() - start));
      figures.add(rateKey, accepted / result.seconds());
      figures.count(rateKey.replace("_per_s", "_refused"), count - accepted);
      if (accepted < count) {
        lab.progress().note(rateKey + ": answers by status " + result.byStatus());
      }
      before.addSince(figures, rateKey, accepted);
      return result;
    }
  }

  /** Purchases answered "queued", or in a strong sale "confirmed". */
  static long accepted(LoadResult result) {
    return result.answers(202) + result.answers(201);
  }
}
