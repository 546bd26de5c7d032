package io.seckill.bench.stage;

import java.util.ArrayList;
import java.util.List;

/**
 * Orders on the way, looked at again and again while a load runs, and whether they become more. A
 * straight line is laid through the looks; they grow when it rises, from the first look to the
 * last, by more than twice the standard deviation of the looks around it, and by more than one
 * order. So a backlog that swings may swing, and one that grows steadily is found, however slowly
 * it does. Not thread-safe.
 */
final class BacklogTrend {

  /** A line fits any two points. */
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
   * @throws IllegalStateException after fewer than 10 looks
   */
  boolean grows() {
    if (looks.size() < FEWEST) {
      throw new IllegalStateException("too few looks at the backlog: " + looks.size());
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

  /** The sum of products of what two columns have beyond their means. */
  private double sum(double meanOfOne, double meanOfOther, int one, int other) {
    return looks.stream()
        .mapToDouble(look -> (look[one] - meanOfOne) * (look[other] - meanOfOther))
        .sum();
  }
}
