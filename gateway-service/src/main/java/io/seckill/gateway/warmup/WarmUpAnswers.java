package io.seckill.gateway.warmup;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** Counts the answers to the purchases of a warm-up. Thread-safe. */
final class WarmUpAnswers {

  private static final int ADMITTED = 202;

  /** There is no such SKU: only the script in Redis gives this answer. */
  private static final int UNKNOWN_SKU = 404;

  private final Map<Integer, Integer> byStatus = new ConcurrentSkipListMap<>();

  void add(int status) {
    byStatus.merge(status, 1, Integer::sum);
  }

  int count() {
    return byStatus.values().stream().mapToInt(Integer::intValue).sum();
  }

  String whatIsWarm() {
    if (isMost(ADMITTED)) {
      return "warm is all of a purchase's way";
    } else if (isMost(UNKNOWN_SKU)) {
      return "warm is all of a purchase's way but its admission";
    }
    return count() == 0
        ? "nothing is warm"
        : "warm is HTTP, little or nothing of what is behind it";
  }

  private boolean isMost(int status) {
    return byStatus.getOrDefault(status, 0) > count() / 2;
  }

  @Override
  public String toString() {
    return byStatus.toString();
  }
}
