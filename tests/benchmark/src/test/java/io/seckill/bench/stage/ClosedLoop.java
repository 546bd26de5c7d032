package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.report.Figures;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;

/**
 * As many purchases as a sale has units, as fast as answers come.
 *
 * @param lostKey counts accepted purchases that were never stored
 */
record ClosedLoop(Lab lab, Figures figures, String lostKey) {

  /**
   * Adds the accepted purchases per second, the number of others, and the CPU time per accepted one
   * until the last is stored.
   */
  LoadResult buy(String rateKey, BenchSale sale, int connections) throws Exception {
    long count = sale.stock();
    ReadyPurchases purchases = new ReadyPurchases(lab, sale, (int) count);
    try (StoredRows database = new StoredRows(lab.mysql())) {
      CpuTimes before = CpuTimes.now();
      LoadResult result = Loader.run(purchases.asap(connections), answer -> {});
      long accepted = accepted(result);
      figures.count(lostKey, database.missing(sale, accepted));
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
