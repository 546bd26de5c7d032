package io.seckill.bench.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The values of one figure over the repeats of a run. Not thread-safe. */
public final class Samples {

  private final List<Double> values = new ArrayList<>();

  void add(double value) {
    values.add(value);
  }

  /** Returns the middle value, or the mean of the two middle ones if their number is even. */
  public double median() {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  public double min() {
    return Collections.min(values);
  }

  public double max() {
    return Collections.max(values);
  }

  public int count() {
    return values.size();
  }
}
