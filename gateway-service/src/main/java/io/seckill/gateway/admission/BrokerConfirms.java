package io.seckill.gateway.admission;

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
 * when it does. Lanes call {@link #confirmed} from their threads; all else is for one thread.
 */
final class BrokerConfirms {

  private final Promises promises;
  private final Map<OrderId, List<Waiting>> published = new HashMap<>();
  private final BlockingQueue<OrderId> confirmed = new LinkedBlockingQueue<>();
  private int waiting;

  /**
   * @param promises asked again when an order is confirmed
   */
  BrokerConfirms(Promises promises) {
    this.promises = promises;
  }

  private record Waiting(Purchase purchase, Queued outcome) {

    void answer(Promises promises) {
      purchase.answer(promises.may(purchase.attempt().skuId()) ? outcome : Unknown.FALLBACK);
    }
  }

  /** The order is handed to a lane. */
  void published(OrderId order) {
    published.putIfAbsent(order, new ArrayList<>(1));
  }

  /** The broker has the order. */
  void confirmed(OrderId order) {
    confirmed.add(order);
  }

  /** Answers a purchase once its order is confirmed, or UNKNOWN if no lane has the order. */
  void answerConfirmed(Purchase purchase, Queued outcome) {
    List<Waiting> purchases = published.get(outcome.orderId());
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
    for (List<Waiting> purchases : published.values()) {
      purchases.forEach(one -> one.purchase().answer(Unknown.BROKER));
    }
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
}
