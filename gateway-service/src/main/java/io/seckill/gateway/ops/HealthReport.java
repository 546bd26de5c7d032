package io.seckill.gateway.ops;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The health of the pipeline as this gateway sees it.
 *
 * @param status the worst of the components
 * @param durableIn the store that has an order when this gateway answers that it is queued
 * @param components by name, in alphabetical order
 */
record HealthReport(HealthState status, String durableIn, Map<String, Component> components) {

  /** Ordered from best to worst. */
  enum HealthState {
    UP,
    /** Impaired; purchases continue, those of strong sales unless their servers are away. */
    DEGRADED,
    /** No purchase can be admitted, except of strong sales. */
    DOWN
  }

  /** The health of one component, with a reason of one sentence unless it is UP. */
  record Component(HealthState status, @Nullable String reason) {

    static final Component UP = new Component(HealthState.UP, null);

    static Component degraded(String reason) {
      return new Component(HealthState.DEGRADED, reason);
    }

    static Component down(String reason) {
      return new Component(HealthState.DOWN, reason);
    }
  }

  static HealthReport of(String durableIn, Map<String, Component> components) {
    HealthState worst =
        components.values().stream()
            .map(Component::status)
            .max(HealthState::compareTo)
            .orElse(HealthState.UP);
    return new HealthReport(worst, durableIn, new TreeMap<>(components));
  }
}
