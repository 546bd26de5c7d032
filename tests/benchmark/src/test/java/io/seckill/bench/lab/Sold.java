package io.seckill.bench.lab;

import io.seckill.bench.report.Figures;

/**
 * What a store has recorded of a sale.
 *
 * @param orders of one unit each
 * @param requests different ones among them: user and key
 * @param mostOfOneUser units
 * @param taken units that the stock is short of
 */
public record Sold(long orders, long requests, long mostOfOneUser, long taken) {

  /**
   * Counts the defects: accepted purchases without an order, second orders of a request, units that
   * were not there, and units above a user's limit.
   *
   * @param accepted purchases, by the answers to their shoppers
   */
  public void count(Figures figures, String prefix, BenchSale sale, long accepted) {
    figures.count(prefix + ".lost", Math.max(0, accepted - orders));
    figures.count(prefix + ".doubled", orders - requests);
    figures.count(prefix + ".oversold", Math.max(0, Math.max(orders, taken) - sale.stock()));
    figures.count(
        prefix + ".broken_guarantees",
        Math.abs(taken - orders) + Math.max(0, mostOfOneUser - BenchSale.UNITS_PER_USER));
  }
}
