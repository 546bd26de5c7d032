package io.seckill.gateway.shards;

import io.seckill.gateway.shards.WaitingPurchase.Outcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The purchases that wait for units of one shard, those first refused first. Thread-safe. */
final class ShardLine {

  /** As many as wait for their first call of Redis. */
  static final int MOST_WAITING = 4_096;

  /** From the start of one look to the start of the next. */
  static final Duration LOOK_EVERY = Duration.ofMillis(25);

  /** Longest wait, from the first refusal to the answer. */
  static final Duration LONGEST_WAIT = Duration.ofMillis(300);

  private final ArrayDeque<WaitingPurchase> waiting = new ArrayDeque<>();
  private boolean looking;
  private @Nullable Long lookedNanos;

  /**
   * The demand for units that a look reports to Redis.
   *
   * @param units of all purchases that wait
   * @param waited how long the first of them has waited
   */
  record Demand(long units, Duration waited) {}

  /** A purchase that has left the line. */
  record Ended(WaitingPurchase purchase, Outcome outcome) {}

  /**
   * Adds a purchase, before the others if it was sent again and has waited longer than they.
   *
   * @return false when too many wait, or it cannot wait for one more look
   */
  synchronized boolean add(WaitingPurchase purchase, long nowNanos) {
    if (waiting.size() >= MOST_WAITING || isOverdue(purchase, nowNanos)) {
      return false;
    }
    WaitingPurchase first = waiting.peek();
    if (first != null && purchase.sinceNanos() - first.sinceNanos() < 0) {
      waiting.addFirst(purchase);
    } else {
      waiting.add(purchase);
    }
    return true;
  }

  synchronized int size() {
    return waiting.size();
  }

  /** Begins a look at the shard; null when none is due, or one is under way. */
  synchronized @Nullable Demand beginLook(long nowNanos) {
    if (waiting.isEmpty() || looking || !isDue(nowNanos)) {
      return null;
    }
    looking = true;
    lookedNanos = nowNanos;
    return new Demand(
        waiting.stream().mapToLong(WaitingPurchase::quantity).sum(),
        Duration.ofNanos(nowNanos - waiting.element().sinceNanos()));
  }

  private boolean isDue(long nowNanos) {
    return lookedNanos == null || nowNanos - lookedNanos >= LOOK_EVERY.toNanos();
  }

  /** Whether a new line would do as well: nobody waits, and the next look could begin at once. */
  synchronized boolean isIdle(long nowNanos) {
    return waiting.isEmpty() && !looking && isDue(nowNanos);
  }

  /**
   * Ends the look, and decides what it shows: purchases take the units in their order; those for
   * which too few are left in all are refused; the others wait on.
   *
   * @param seen null when Redis did not answer
   */
  synchronized List<Ended> endLook(@Nullable ShardStock seen) {
    looking = false;
    if (seen == null) {
      return List.of();
    }
    AtomicLong left = new AtomicLong(seen.stock());
    return remove(
        one -> {
          if (one.quantity() > left.get()) {
            return seen.refusal(one.quantity());
          }
          left.addAndGet(-one.quantity());
          return Outcome.SEND_AGAIN;
        });
  }

  /** Removes the purchases that cannot wait for one more look. */
  synchronized List<Ended> removeOverdue(long nowNanos) {
    return remove(one -> isOverdue(one, nowNanos) ? Outcome.BUSY : null);
  }

  private static boolean isOverdue(WaitingPurchase purchase, long nowNanos) {
    return nowNanos - purchase.sinceNanos() > LONGEST_WAIT.minus(LOOK_EVERY).toNanos();
  }

  synchronized List<Ended> removeAll() {
    return remove(one -> Outcome.BUSY);
  }

  /** Removes the purchases that have an outcome. */
  private List<Ended> remove(Function<WaitingPurchase, @Nullable Outcome> outcomes) {
    List<Ended> ended = new ArrayList<>();
    waiting.removeIf(
        one -> {
          Outcome outcome = outcomes.apply(one);
          return outcome != null && ended.add(new Ended(one, outcome));
        });
    return ended;
  }
}
