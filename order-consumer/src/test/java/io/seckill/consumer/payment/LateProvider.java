package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The most difficult provider that the contract allows: it cannot close a payment, and it books a
 * charge that it left unanswered only when the test requests it.
 */
public final class LateProvider implements PaymentProvider {

  static final Duration LONGEST_DELAY = Duration.ofHours(1);

  /** The results of the next calls of {@code charge}. */
  enum Next {
    NO_ANSWER,
    DECLINED,
    BUG
  }

  private final Queue<Next> next = new ConcurrentLinkedQueue<>();
  private final Set<OrderId> taken = ConcurrentHashMap.newKeySet();
  private final Set<OrderId> broken = ConcurrentHashMap.newKeySet();
  private final Map<OrderId, AtomicInteger> calls = new ConcurrentHashMap<>();
  private volatile CountDownLatch stalled = new CountDownLatch(0);
  private volatile boolean unavailable;

  void answer(Next... answers) {
    next.addAll(List.of(answers));
  }

  /** Answers no charge until it {@link #continues}. */
  void stalls() {
    stalled = new CountDownLatch(1);
  }

  void continues() {
    stalled.countDown();
  }

  /** Books a charge that was requested before. */
  public void book(OrderId orderId) {
    taken.add(orderId);
  }

  public boolean hasMoneyOf(OrderId orderId) {
    return taken.contains(orderId);
  }

  /** The number of calls of find and refund for an order. */
  public int calls(OrderId orderId) {
    return calls.getOrDefault(orderId, new AtomicInteger()).get();
  }

  void setUnavailable(boolean unavailable) {
    this.unavailable = unavailable;
  }

  /** Makes each find and refund of this order fail as a defect of the implementation would. */
  void breakFor(OrderId orderId) {
    broken.add(orderId);
  }

  @Override
  public Charge charge(OrderId orderId, long amountCents) {
    Bounded.await(stalled);
    Next answer = next.poll();
    if (answer == Next.DECLINED) {
      return new Charge.Declined();
    }
    if (answer == Next.BUG) {
      throw new IllegalStateException("a defect of the provider");
    }
    throw new PaymentUnavailableException("no answer", null);
  }

  @Override
  public Optional<Charge.Charged> find(OrderId orderId) {
    called(orderId);
    return taken.contains(orderId)
        ? Optional.of(new Charge.Charged("late-" + orderId))
        : Optional.empty();
  }

  @Override
  public void refund(OrderId orderId) {
    called(orderId);
    taken.remove(orderId);
  }

  @Override
  public Duration longestBookingDelay() {
    return LONGEST_DELAY;
  }

  private void called(OrderId orderId) {
    calls.computeIfAbsent(orderId, id -> new AtomicInteger()).incrementAndGet();
    if (broken.contains(orderId)) {
      throw new IllegalStateException("a defect of the provider");
    }
    if (unavailable) {
      throw new PaymentUnavailableException("away", null);
    }
  }
}
