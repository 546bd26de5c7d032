package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.order.OrderLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.PriorityQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Deliveries that wait to be processed: newly received ones, and those to be retried later. Bounded
 * by the prefetch and the orders of a message. Thread-safe; only one thread calls {@link #take}.
 */
final class Inbox {

  /** Not a delivery: ends a wait. */
  private static final Delivery WAKE =
      new Delivery(
          0,
          new ReceivedMessage(0, "", new BasicProperties(), 1),
          new byte[0],
          null,
          null,
          System.nanoTime());

  private final BlockingQueue<Delivery> arrived;
  private final PriorityQueue<Retry> retries = new PriorityQueue<>();

  /** Numbers of deliveries that wait for a retry, or are being retried. */
  private final NavigableSet<Long> postponed = new ConcurrentSkipListSet<>();

  /** Whether {@link #WAKE} is in the queue. */
  private final AtomicBoolean woken = new AtomicBoolean();

  private record Retry(long atNanos, Delivery delivery) implements Comparable<Retry> {
    @Override
    public int compareTo(Retry other) {
      return Long.compare(atNanos - other.atNanos, 0);
    }
  }

  /**
   * @param prefetch most unsettled messages
   */
  Inbox(int prefetch) {
    this.arrived = new LinkedBlockingQueue<>(prefetch * OrderLines.MOST_ORDERS + 1); // and WAKE
  }

  /** Returns false when there are more deliveries than the prefetch allows, by two or more. */
  boolean offer(Delivery delivery) {
    return arrived.offer(delivery);
  }

  /** Makes {@link #take} return a delivery again after the pause; it stays unsettled until then. */
  void retryLater(Delivery delivery, Duration pause) {
    postponed.add(delivery.number());
    synchronized (retries) {
      retries.add(new Retry(System.nanoTime() + pause.toNanos(), delivery));
    }
    wake(); // the wait under way may be longer than the pause
  }

  /** Ends the wait of {@link #take}, or the next one. */
  void wake() {
    if (!woken.getAndSet(true) && !arrived.offer(WAKE)) {
      woken.set(false); // nothing waits for a full inbox
    }
  }

  /** Forgets that these were postponed: they are settled. */
  void settled(List<Delivery> deliveries) {
    if (!postponed.isEmpty()) {
      deliveries.forEach(delivery -> postponed.remove(delivery.number()));
    }
  }

  /** Whether a delivery received before this one was postponed and is not settled yet. */
  boolean hasPostponedBefore(Delivery delivery) {
    return postponed.lower(delivery.number()) != null;
  }

  /**
   * Takes the available deliveries, without waiting when they fill a batch.
   *
   * @param max size of a full batch
   * @param linger longest wait for more, counted from the arrival of the first
   * @param idle longest wait for the first; {@link #wake} and a due retry end it
   * @return at most max deliveries, oldest first; empty when none arrived
   */
  List<Delivery> take(int max, Duration linger, Duration idle) throws InterruptedException {
    List<Delivery> batch = new ArrayList<>(Math.min(max, arrived.size() + 16));
    long untilRetry = takeDueRetries(batch, max);
    if (batch.isEmpty() && !takeOne(batch, Math.min(untilRetry, idle.toNanos()))) {
      return batch;
    }
    long deadline = batch.get(0).receivedNanos() + linger.toNanos();
    arrived.drainTo(batch, max - batch.size());
    while (batch.size() < max && takeOne(batch, deadline - System.nanoTime())) {
      arrived.drainTo(batch, max - batch.size());
    }
    if (woken.get() && batch.remove(WAKE)) {
      woken.set(false);
      arrived.drainTo(batch, max - batch.size());
    }
    return batch;
  }

  private boolean takeOne(List<Delivery> batch, long waitNanos) throws InterruptedException {
    Delivery next = waitNanos <= 0 ? null : arrived.poll(waitNanos, TimeUnit.NANOSECONDS);
    if (WAKE.equals(next)) {
      woken.set(false); // the caller then reads what has changed
      return false;
    }
    return next != null && batch.add(next);
  }

  /** Returns the nanoseconds until the next retry; the longest time for none. */
  private long takeDueRetries(List<Delivery> batch, int max) {
    long now = System.nanoTime();
    synchronized (retries) {
      while (batch.size() < max && !retries.isEmpty() && retries.peek().atNanos() - now <= 0) {
        batch.add(retries.remove().delivery());
      }
      return retries.isEmpty() ? Long.MAX_VALUE : retries.peek().atNanos() - now;
    }
  }
}
