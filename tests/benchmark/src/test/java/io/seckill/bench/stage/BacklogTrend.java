package io.seckill.bench.stage;

import java.util.ArrayList;
import java.util.List;

/**
 * Decides whether the number of orders in transit grows while a load runs. A straight line is
 * fitted to the samples; the number grows when the line rises, from the first sample to the last,
 * by more than twice the standard deviation of the samples around it, and by more than one order.
 * So a backlog may fluctuate, and one that grows steadily is detected, however slowly it grows. Not
 * thread-safe.
 */
final class BacklogTrend {

  /** With few samples a line always fits: two points determine it. */
  private static final int FEWEST = 10;

  private static final double NOISE = 2;

  private final List<double[]> looks = new ArrayList<>();

  /**
   * @param seconds since the start of the load
   * @param orders admitted and not stored at that time
   */
  void add(double seconds, double orders) {
    looks.add(new double[] {seconds, orders});
  }

  /**
   * @throws IllegalStateException when there are fewer than 10 samples
   */
  boolean grows() {
    if (looks.size() < FEWEST) {
      throw new IllegalStateException("too few samples of the backlog:  " + looks.size());
    }
    double meanTime = mean(0);
    double meanOrders = mean(1);
    double slope = sum(meanTime, meanOrders, 0, 1) / sum(meanTime, meanTime, 0, 0);
    double residuals =
        looks.stream()
            .mapToDouble(look -> look[1] - meanOrders - slope * (look[0] - meanTime))
            .map(residual -> residual * residual)
            .sum();
    double deviation = Math.sqrt(residuals / (looks.size() - 2));
    double growth = slope * (looks.get(looks.size() - 1)[0] - looks.get(0)[0]);
    return growth > Math.max(1, NOISE * deviation);
  }

  private double mean(int column) {
    return looks.stream().mapToDouble(look -> look[column]).average().orElseThrow();
  }

  /** Returns the sum of the products of two columns' deviations from their means. */
  private double sum(double meanOfOne, double meanOfOther, int one, int other) {
    return looks.stream()
        .mapToDouble(look -> (look[one] - meanOfOne) * (look[other] - meanOfOther))
        .sum();
  }
}
