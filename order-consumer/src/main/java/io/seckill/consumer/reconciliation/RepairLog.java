package io.seckill.consumer.reconciliation;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The findings and repairs of a run: all of them are counted, and the first {@value #MOST_KEPT}
 * findings that are only reported are kept, and as many others, so memory does not grow with the
 * damage. A finding that is kept counts once, however often it is found; another one each time. For
 * one thread.
 */
final class RepairLog {

  static final int MOST_KEPT = 10_000;

  private static final int MOST_NAMED = 5;

  private final Map<Repair.Key, Repair> kept = new LinkedHashMap<>();
  private final Map<RepairKind, Integer> found = new TreeMap<>();
  private final Map<RepairKind, Integer> made = new TreeMap<>();
  private int reported;

  void addAll(Collection<Repair> repairs) {
    repairs.forEach(this::add);
  }

  void add(Repair repair) {
    Repair before = kept.get(repair.key());
    if (before != null) {
      kept.put(repair.key(), before.foundAgain(repair));
      made.merge(repair.kind(), count(repair) - count(before), Integer::sum);
      return;
    }
    boolean isReported = repair.kind().isOnlyReported();
    if ((isReported ? reported : kept.size() - reported) < MOST_KEPT) {
      kept.put(repair.key(), repair);
      reported += isReported ? 1 : 0;
    }
    found.merge(repair.kind(), 1, Integer::sum);
    made.merge(repair.kind(), count(repair), Integer::sum);
  }

  private static int count(Repair repair) {
    return repair.made() ? 1 : 0;
  }

  boolean isEmpty() {
    return found.isEmpty();
  }

  int size() {
    return sum(found).sum();
  }

  /** Findings that have been repaired. */
  int sizeMade() {
    return sum(made).sum();
  }

  private static IntStream sum(Map<RepairKind, Integer> counts) {
    return counts.values().stream().mapToInt(Integer::intValue);
  }

  Map<RepairKind, Integer> counts() {
    return Map.copyOf(found);
  }

  /** Findings that have been repaired, by kind. */
  Map<RepairKind, Integer> countsMade() {
    return Map.copyOf(made);
  }

  /** Findings that are only reported, at most {@value #MOST_KEPT}. */
  int reported() {
    return reported;
  }

  /**
   * The outcome of a comparison with these findings.
   *
   * @param isWhole whether it has found all
   */
  RunOutcome outcome(boolean isWhole) {
    if (!isWhole || sizeMade() < size()) {
      return RunOutcome.FOUND;
    }
    return isEmpty() ? RunOutcome.CLEAN : RunOutcome.REPAIRED;
  }

  /** The same for operators. */
  String detail(boolean isWhole) {
    return isEmpty() && isWhole
        ? "Redis and MySQL agree."
        : withLostOrders(
            "%d differences, %d set right.%s"
                .formatted(size(), sizeMade(), isWhole ? "" : " There may be more: run again."));
  }

  /** A text for operators, with the first orders that MySQL has lost, if they are reported. */
  String withLostOrders(String text) {
    List<String> lost =
        kept.values().stream()
            .filter(repair -> repair.kind() == RepairKind.ORDER_NOT_IN_MYSQL)
            .map(Repair::subject)
            .toList();
    return lost.isEmpty() ? text : text + " MySQL has lost orders " + named(lost) + ".";
  }

  /** The first {@value #MOST_NAMED} of these orders, for operators. */
  static String named(List<String> orders) {
    boolean areAll = orders.size() <= MOST_NAMED;
    return String.join(", ", areAll ? orders : orders.subList(0, MOST_NAMED))
        + (areAll ? "" : ", …");
  }

  /** The first findings that are kept; those that an operator must look at come before others. */
  List<Repair> first(int most) {
    return kept.values().stream()
        .sorted(Comparator.comparing(repair -> !repair.kind().isOnlyReported()))
        .limit(most)
        .toList();
  }
}
