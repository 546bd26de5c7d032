package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The orders that Redis admitted for this gateway and that MySQL may not have yet, and the most
 * units that Redis has reported. Thread-safe; every call is short.
 */
final class PromisedOrders {

  /** Some 25 MB. A sale has as many orders as units at most. */
  static final int MOST = 100_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final LinkedHashMap<OrderId, OrderMessage> orders = new LinkedHashMap<>();
  private final Map<Long, Admitted> admitted = new HashMap<>();
  private boolean complete = true;

  /**
   * Units that Redis has admitted of a SKU, for whichever gateway, including those of orders that
   * it was loaded with.
   */
  record Admitted(long skuId, long epoch, long units) {

    private Admitted max(Admitted other) {
      boolean later = epoch == other.epoch ? units > other.units : epoch > other.epoch;
      return later ? this : other;
    }
  }

  /**
   * What is handed over.
   *
   * @param complete whether no order had to be forgotten since the last handover
   */
  record Content(List<OrderMessage> orders, List<Admitted> admitted, boolean complete) {}

  /** Beyond {@value #MOST} the oldest is forgotten. */
  void add(Collection<OrderMessage> more) {
    lock.lock();
    try {
      more.forEach(order -> orders.putIfAbsent(order.orderId(), order));
      Iterator<OrderMessage> oldest = orders.values().iterator();
      while (orders.size() > MOST) {
        oldest.next();
        oldest.remove();
        complete = false;
      }
    } finally {
      lock.unlock();
    }
  }

  void add(Admitted units) {
    lock.lock();
    try {
      admitted.merge(units.skuId(), units, Admitted::max);
    } finally {
      lock.unlock();
    }
  }

  Content content() {
    lock.lock();
    try {
      return new Content(List.copyOf(orders.values()), List.copyOf(admitted.values()), complete);
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return orders.size();
    } finally {
      lock.unlock();
    }
  }

  /** The orders for which the condition holds, oldest first. */
  List<OrderId> find(Predicate<OrderMessage> condition) {
    List<OrderId> found = new ArrayList<>();
    lock.lock();
    try {
      orders.forEach(
          (id, order) -> {
            if (condition.test(order)) {
              found.add(id);
            }
          });
    } finally {
      lock.unlock();
    }
    return found;
  }

  /** MySQL has these. */
  void forget(Collection<OrderId> stored) {
    lock.lock();
    try {
      stored.forEach(orders::remove);
    } finally {
      lock.unlock();
    }
  }

  /** All of this content was handed over; what came later is kept. */
  void handedOver(Content content) {
    lock.lock();
    try {
      content.orders().forEach(order -> orders.remove(order.orderId()));
      complete = true;
    } finally {
      lock.unlock();
    }
  }
}
