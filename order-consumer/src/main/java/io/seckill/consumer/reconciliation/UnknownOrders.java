package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Orders that Redis has admitted and MySQL did not have: in flight or lost. Of those that can be
 * sent again the oldest are kept, at most {@value Comparison#MOST_FINDINGS}: orders are stored
 * about in the order of their admissions, so lost ones are soon older than those in flight, however
 * many there are. Of the others, which stay, the first that were found. For one thread.
 */
final class UnknownOrders {

  private final Map<OrderId, AdmissionRecord> kept = new HashMap<>();
  private final PriorityQueue<Sendable> newestFirst =
      new PriorityQueue<>(Comparator.comparingLong(Sendable::seq).reversed());
  private boolean areAll = true;

  private record Sendable(OrderId id, long seq) {}

  void add(OrderId id, AdmissionRecord order) {
    if (LostOrders.isSendable(order)) {
      kept.put(id, order);
      newestFirst.add(new Sendable(id, order.seq()));
      if (newestFirst.size() > Comparison.MOST_FINDINGS) {
        kept.remove(newestFirst.remove().id());
        areAll = false;
      }
    } else if (kept.size() - newestFirst.size() < Comparison.MOST_FINDINGS) {
      kept.put(id, order);
    } else {
      areAll = false;
    }
  }

  Map<OrderId, AdmissionRecord> kept() {
    return kept;
  }

  /** Whether none was left out. */
  boolean areAll() {
    return areAll;
  }
}
