package io.seckill.gateway.warmup;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the answers to the warm-up's purchases. Thread-safe. */
final class WarmUpAnswers {

  /** There is no such SKU: only the script in Redis gives this answer. */
  private static final int UNKNOWN_SKU = 404;

  private final AtomicInteger count = new AtomicInteger();
  private final Map<Integer, Integer> byStatus = new ConcurrentSkipListMap<>();

  void add(int status) {
    count.incrementAndGet();
    byStatus.merge(status, 1, Integer::sum);
  }

  int count() {
    return count.get();
  }

  /** Describes which part of the purchase path is warm. */
  String whatIsWarm() {
    int byRedis = byStatus.getOrDefault(UNKNOWN_SKU, 0);
    if (byRedis > count() / 2) {
      return "warm is all of a purchase's way but its admission";
    }
    return count() == 0
        ? "nothing is warm"
        : "warm is HTTP, little or nothing of what is behind it";
  }

  /** Numbers of answers by status. */
  @Override
  public String toString() {
    return byStatus.toString();
  }
}
