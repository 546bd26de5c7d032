package io.seckill.bench.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Everything measured in one run, by key. A key ends in its unit: {@code _per_s}, {@code _ms},
 * {@code _percent}, {@code _mb}, {@code _bytes}, {@code .seconds}; without one it is a count or a
 * ratio. Thread-safe.
 */
public final class Figures {

  private final Map<String, Samples> byKey = new LinkedHashMap<>();

  /** Adds a value of a figure; a figure that is measured repeatedly has several. */
  public synchronized void add(String key, double value) {
    byKey.computeIfAbsent(key, k -> new Samples()).add(value);
  }

  /** Adds a value of a figure that is a count. */
  public void count(String key, long value) {
    add(key, (double) value);
  }

  /** Returns the figure's values, or empty if it was not measured. */
  public synchronized Optional<Samples> of(String key) {
    return Optional.ofNullable(byKey.get(key));
  }

  public synchronized OptionalDouble median(String key) {
    return of(key)
        .map(samples -> OptionalDouble.of(samples.median()))
        .orElse(OptionalDouble.empty());
  }

  /** Returns the quotient of two medians, or empty if one was not measured or the divisor is 0. */
  public OptionalDouble ratio(String key, String toKey) {
    OptionalDouble value = median(key);
    OptionalDouble to = median(toKey);
    return value.isPresent() && to.isPresent() && to.getAsDouble() != 0
        ? OptionalDouble.of(value.getAsDouble() / to.getAsDouble())
        : OptionalDouble.empty();
  }

  /** Returns all figures in the order in which they were first measured. */
  public synchronized Map<String, Samples> all() {
    return new LinkedHashMap<>(byKey);
  }
}
