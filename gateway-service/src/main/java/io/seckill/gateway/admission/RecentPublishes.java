package io.seckill.gateway.admission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.OrderId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The last orders that the lanes of this gateway were given, whether the broker has confirmed them,
 * and the calls that wait for it: a repeat waits for the publish that is under way, or is answered
 * by its confirm, and causes no other. Thread-safe.
 */
final class RecentPublishes {

  /**
   * Without use; a repeat of an order that is forgotten is published again. Not a number of orders:
   * one that waits for its confirm must not make room for others.
   */
  private static final Duration REMEMBERED = Duration.ofSeconds(10);

  private final Cache<OrderId, Published> orders =
      Caffeine.newBuilder().expireAfterAccess(REMEMBERED).executor(Runnable::run).build();

  /** One order; guarded by itself. */
  private static final class Published {
    private boolean confirmed;
    private final List<BrokerConfirms> calls = new ArrayList<>(1);
  }

  /** A lane is about to be given the order, for this call. */
  void published(OrderId order, BrokerConfirms call) {
    Published one = orders.get(order, id -> new Published());
    synchronized (one) {
      one.calls.add(call);
    }
  }

  /**
   * Has the call wait for the order as well; it is notified at once if the order is confirmed.
   *
   * @return false if no lane of this gateway was given the order lately
   */
  boolean join(OrderId order, BrokerConfirms call) {
    Published one = orders.getIfPresent(order);
    if (one == null) {
      return false;
    }
    synchronized (one) {
      if (one.confirmed) {
        call.confirmed(order);
      } else {
        one.calls.add(call);
      }
      return true;
    }
  }

  /** The broker has the order. Called by the threads of lanes. */
  void confirmed(OrderId order) {
    Published one = orders.getIfPresent(order);
    if (one == null) {
      return;
    }
    synchronized (one) {
      one.confirmed = true;
      one.calls.forEach(call -> call.confirmed(order));
      one.calls.clear();
    }
  }

  /** The call waits no longer. */
  void leave(OrderId order, BrokerConfirms call) {
    Published one = orders.getIfPresent(order);
    if (one != null) {
      synchronized (one) {
        one.calls.remove(call);
      }
    }
  }
}
