package io.seckill.bench.stage;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * When each order of a load reached each {@link Step}, in µs of the machine's clock, Unix time.
 * Thread-safe.
 */
final class OrderSteps {

  /** The times of one order. */
  static final class Order {
    private final EnumMap<Step, Long> at = new EnumMap<>(Step.class);

    /** The result may reach Redis after the row was seen, which is not before its COMMIT. */
    long at(Step step) {
      long visible = at.get(Step.VISIBLE);
      return step == Step.COMMITTED
          ? Math.min(visible, at.getOrDefault(step, visible))
          : at.get(step);
    }

    /** From the moment the purchase was due until another session saw the row. */
    long total() {
      return at(Step.VISIBLE) - at(Step.DUE);
    }

    private boolean isComplete() {
      return Stream.of(Step.values())
          .allMatch(step -> step == Step.COMMITTED || at.containsKey(step));
    }
  }

  /** The steps of an order; those of the way to its row come first, in its order. */
  enum Step {
    DUE("due", null),
    /** The script has put it into the outbox. */
    ADMITTED("admitted", DUE),
    /** A lane has it in its private queue. */
    CLAIMED("claimed by the relay", ADMITTED),
    /** Delivered to order-consumer, whose INSERT begins. */
    DELIVERED("delivered, its INSERT begins", CLAIMED),
    /** order-consumer reports the result to Redis; at the latest when the row is visible. */
    COMMITTED("committed", DELIVERED),
    VISIBLE("visible to another session", COMMITTED),
    /** Not on the way to the row: the last byte of the answer. */
    ANSWERED("answered", DUE),
    /** Not on the way to the row: confirmed, and leaves the private queue. */
    CONFIRMED("confirmed", CLAIMED);

    final String title;
    private final @Nullable Step since;

    Step(String title, @Nullable Step since) {
      this.title = title;
      this.since = since;
    }

    /** The step from which its time is measured; of the first, itself. */
    Step since() {
      return since == null ? this : since;
    }
  }

  private final Map<Long, Order> orders = new HashMap<>();

  /** Keeps the first time. */
  synchronized void reached(long orderId, Step step, long micros) {
    orders.computeIfAbsent(orderId, id -> new Order()).at.putIfAbsent(step, micros);
  }

  /** The orders for which all steps were observed, the slowest first. */
  synchronized List<Order> slowestFirst() {
    return orders.values().stream()
        .filter(Order::isComplete)
        .sorted(Comparator.comparingLong(Order::total).reversed())
        .toList();
  }

  /** Accepted orders that miss a step: the observation lost it. */
  synchronized long incomplete() {
    return orders.values().stream()
        .filter(order -> order.at.containsKey(Step.DUE) && !order.isComplete())
        .count();
  }

  /** When the orders reached a step, by their ids. */
  synchronized Map<Long, Long> times(Step step) {
    Map<Long, Long> times = new HashMap<>();
    orders.forEach(
        (id, order) -> {
          if (order.at.containsKey(step)) {
            times.put(id, order.at.get(step));
          }
        });
    return times;
  }

  /** The mean time of a step, in ms. */
  static double meanMs(List<Order> orders, Step step) {
    return orders.stream()
            .mapToLong(order -> order.at(step) - order.at(step.since()))
            .average()
            .orElse(0)
        / 1e3;
  }
}
