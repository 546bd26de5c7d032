package io.seckill.relay.lane;

import io.seckill.common.order.OrderTrail;
import io.seckill.relay.publish.OutboundOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A lane's view of its private queue: how many of its orders are published on the current link, and
 * which of them the broker has confirmed. Confirmed orders are kept when connections break. Not
 * thread-safe.
 *
 * <p>Every order in the queue is counted here ({@link QueueState#COUNTED}) until an error: then the
 * lane waits for the answers to what it has published, so that only orders with an unknown outcome
 * are sent twice, and reads the queue page by page until it is empty.
 *
 * <pre>
 * COUNTED → AWAITING_ANSWERS or UNREAD   linkLost, refused, queueUnknown, a queue longer than counted
 * AWAITING_ANSWERS → UNREAD              the last counted order was removed, or its link lost
 * UNREAD → AWAITING_ANSWERS              a page was read and published again
 * UNREAD → COUNTED                       the page was empty
 * any → COUNTED                          leaseLost: the next lease begins with an empty queue
 * </pre>
 */
final class UnsettledOrders {

  enum QueueState {
    /** The queue holds the counted orders and no others; new ones may be claimed. */
    COUNTED,
    /** The queue may hold other orders too; the broker's answers to the counted ones come first. */
    AWAITING_ANSWERS,
    /** The queue may hold orders, none of them counted; it is to be read. */
    UNREAD
  }

  private final List<OutboundOrder> confirmed = new ArrayList<>();
  private int count;
  private boolean complete = true;

  /** Links that broke with published orders, and refusals, since a confirmed order was removed. */
  private int failures;

  QueueState state() {
    if (complete) {
      return QueueState.COUNTED;
    }
    return count > 0 ? QueueState.AWAITING_ANSWERS : QueueState.UNREAD;
  }

  /** Number of orders published on the current link, or confirmed, that were not removed. */
  int count() {
    return count;
  }

  /** Orders to be removed from the private queue; the caller adds what the broker confirms. */
  List<OutboundOrder> confirmed() {
    return confirmed;
  }

  /**
   * Number of orders that may be claimed together with the removal of the confirmed ones; of a lane
   * that gets nothing published one at a time, because each may wait until the lease runs out.
   */
  int room(int most) {
    int window = areFruitless() ? 1 : most;
    return complete ? window - count + confirmed.size() : 0;
  }

  /**
   * Whether publishing has failed twice in a row: that one link broke says nothing of the next. A
   * link that could not be opened does not count.
   */
  boolean areFruitless() {
    return failures > 1;
  }

  void published(List<OutboundOrder> orders) {
    count += orders.size();
    mark(orders, "published");
  }

  /**
   * A page of the private queue was read while {@link QueueState#UNREAD}; its orders are published.
   */
  void read(int orders) {
    complete = orders == 0;
  }

  /** The confirmed orders were removed from the private queue. */
  void removed() {
    failures = confirmed.isEmpty() ? failures : 0;
    count -= confirmed.size();
    mark(confirmed, "confirmed");
    confirmed.clear();
  }

  void compareWith(long queueLength) {
    complete &= queueLength <= count;
  }

  /**
   * The broker refused orders, which remain in the private queue.
   *
   * @param pending publishes of the current link without an answer
   */
  void refused(int pending) {
    int counted = pending + confirmed.size();
    failures += count > counted ? 1 : 0;
    count = counted;
    complete = false;
  }

  /** The outcome of every unconfirmed publish is unknown from now on. */
  void linkLost() {
    refused(0);
  }

  /** Redis did not answer: a claim may have moved orders to the private queue. */
  void queueUnknown() {
    complete = false;
  }

  /** The lease is over: other lanes own the orders of its private queue. */
  void leaseLost() {
    confirmed.clear();
    count = 0;
    complete = true;
  }

  private static void mark(List<OutboundOrder> orders, String stage) {
    if (OrderTrail.isOn()) {
      for (OutboundOrder order : orders) {
        if (order.message() != null) {
          OrderTrail.mark(order.message(), stage);
        }
      }
    }
  }
}
