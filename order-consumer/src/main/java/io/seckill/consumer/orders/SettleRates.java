package io.seckill.consumer.orders;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Orders settled per second and SKU over the last {@value #WINDOW_MS} ms. Thread-safe; keeps at
 * most {@value #MAX_SLICES} slices of {@value #SLICE_MS} ms for a SKU, and a SKU without orders for
 * two windows at most.
 */
final class SettleRates {

  static final long WINDOW_MS = 10_000;
  private static final long SLICE_MS = 250;
  private static final int MAX_SLICES = (int) (WINDOW_MS / SLICE_MS) + 1;

  private final Map<Long, Deque<Slice>> slices = new HashMap<>();
  private long forgotAtMs;

  synchronized void add(long skuId, int orders, long nowMs) {
    forgetQuiet(nowMs);
    Deque<Slice> of = slices.computeIfAbsent(skuId, sku -> new ArrayDeque<>(MAX_SLICES));
    long start = nowMs - Math.floorMod(nowMs, SLICE_MS);
    Slice last = of.peekLast();
    if (last != null && last.startMs >= start) {
      last.orders += orders;
    } else {
      of.addLast(new Slice(start, orders));
    }
    dropOld(of, nowMs);
  }

  /**
   * Orders per second with one decimal. The time base starts with the oldest slice, so that a sale
   * just begun shows its real rate; it is at least one second, so that a single order does not look
   * like a high rate.
   */
  synchronized String perSecond(long skuId, long nowMs) {
    Deque<Slice> of = slices.get(skuId);
    if (of == null) {
      return "0.0";
    }
    dropOld(of, nowMs);
    if (of.isEmpty()) {
      return "0.0";
    }
    long orders = of.stream().mapToLong(slice -> slice.orders).sum();
    long spanMs = Math.max(1_000, nowMs - of.getFirst().startMs);
    return String.format(Locale.ROOT, "%.1f", orders * 1_000.0 / spanMs);
  }

  /** Number of SKUs it has slices of. */
  synchronized int skus() {
    return slices.size();
  }

  /** Removes idle SKUs once per window, not in every batch; also after the clock was set back. */
  private void forgetQuiet(long nowMs) {
    if (Math.abs(nowMs - forgotAtMs) >= WINDOW_MS) {
      forgotAtMs = nowMs;
      slices.values().removeIf(of -> of.isEmpty() || of.getLast().startMs < nowMs - WINDOW_MS);
    }
  }

  private static void dropOld(Deque<Slice> of, long nowMs) {
    while (!of.isEmpty() && of.getFirst().startMs < nowMs - WINDOW_MS) {
      of.removeFirst();
    }
  }

  private static final class Slice {
    private final long startMs;
    private long orders;

    private Slice(long startMs, long orders) {
      this.startMs = startMs;
      this.orders = orders;
    }
  }
}
