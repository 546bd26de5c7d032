package io.seckill.gateway.admission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.fallback.Promises;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The orders of one script call that the broker has to confirm, and the purchases that are answered
 * when it does. Threads of lanes call {@link #confirmed}; all else is for one thread.
 */
final class BrokerConfirms {

  private final Promises promises;
  private final RecentPublishes orders;
  private final Map<OrderId, List<Waiting>> published = new HashMap<>();
  private final BlockingQueue<OrderId> confirmed = new LinkedBlockingQueue<>();
  private int waiting;

  /**
   * @param promises asked again when an order is confirmed
   */
  BrokerConfirms(Promises promises, RecentPublishes orders) {
    this.promises = promises;
    this.orders = orders;
  }

  private record Waiting(Purchase purchase, Queued outcome) {

    void answer(Promises promises) {
      purchase.answer(promises.mayConfirm(purchase.attempt().skuId()) ? outcome : Unknown.FALLBACK);
    }
  }

  /** The order is about to be handed to a lane. */
  void published(OrderId order) {
    if (published.putIfAbsent(order, new ArrayList<>(1)) == null) {
      orders.published(order, this);
    }
  }

  void confirmed(OrderId order) {
    confirmed.add(order);
  }

  /**
   * Answers a purchase once its order is confirmed, or UNKNOWN if no lane of this gateway has it.
   */
  void answerConfirmed(Purchase purchase, Queued outcome) {
    OrderId order = outcome.orderId();
    List<Waiting> purchases = published.get(order);
    if (purchases == null && orders.join(order, this)) {
      purchases = new ArrayList<>(1);
      published.put(order, purchases);
    }
    if (purchases == null) {
      purchase.answer(Unknown.BROKER);
    } else {
      purchase.waitsFor(Unknown.BROKER);
      purchases.add(new Waiting(purchase, outcome));
      waiting++;
    }
  }

  /** Returns when every purchase is answered; those without a confirm in time as UNKNOWN. */
  void await(Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    while (waiting > 0) {
      @Nullable OrderId order = next(deadline - System.nanoTime());
      if (order == null) {
        break;
      }
      answer(order);
    }
    published.forEach(
        (order, purchases) -> {
          orders.leave(order, this);
          purchases.forEach(one -> one.purchase().answer(Unknown.BROKER));
        });
  }

  private void answer(OrderId order) {
    List<Waiting> purchases = published.remove(order);
    if (purchases != null) { // an order of two publishes is confirmed twice
      purchases.forEach(one -> one.answer(promises));
      waiting -= purchases.size();
    }
  }

  private @Nullable OrderId next(long waitNanos) {
    try {
      return confirmed.poll(Math.max(0, waitNanos), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /**
   * The last orders that the lanes of this gateway were given, whether the broker has confirmed
   * them, and the calls that wait for it: a repeat waits for the publish that is under way, or is
   * answered by its confirm, and causes no other. Thread-safe.
   */
  static final class RecentPublishes {

    /**
     * Without use; a repeat of an order that is forgotten is published again. Not a number of
     * orders: one that waits for its confirm must not make room for others.
     */
    private static final Duration REMEMBERED = Duration.ofSeconds(10);

    private final Cache<OrderId, Published> orders =
        Caffeine.newBuilder().expireAfterAccess(REMEMBERED).executor(Runnable::run).build();

    /** One order; guarded by itself. */
    private static final class Published {
      private boolean confirmed;
      private final List<BrokerConfirms> calls = new ArrayList<>(1);
    }

    /**
     * A lane is about to be given the order, for this call, which is notified at once if the order
     * is confirmed: the broker has it, however often it is published again.
     */
    void published(OrderId order, BrokerConfirms call) {
      await(order, orders.get(order, id -> new Published()), call);
    }

    /**
     * Has the call wait for the order as well; it is notified at once if the order is confirmed.
     * Returns false if no lane of this gateway was given the order lately.
     */
    boolean join(OrderId order, BrokerConfirms call) {
      Published one = orders.getIfPresent(order);
      if (one != null) {
        await(order, one, call);
      }
      return one != null;
    }

    private static void await(OrderId order, Published one, BrokerConfirms call) {
      synchronized (one) {
        if (one.confirmed) {
          call.confirmed(order);
        } else {
          one.calls.add(call);
        }
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

    void leave(OrderId order, BrokerConfirms call) {
      Published one = orders.getIfPresent(order);
      if (one != null) {
        synchronized (one) {
          one.calls.remove(call);
        }
      }
    }
  }
}
