package io.seckill.gateway.health;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How the pipeline looks from this gateway.
 *
 * @param status the worst of the components
 */
record HealthReport(State status, Map<String, Component> components) {

  /** From good to bad. */
  enum State {
    UP,
    /** Not as it should be; purchases go on. */
    DEGRADED,
    /** Nothing can be admitted. */
    DOWN
  }

  /**
   * One part.
   *
   * @param reason one sentence; null when it is UP
   */
  record Component(State status, @Nullable String reason) {

    static final Component UP = new Component(State.UP, null);

    static Component degraded(String reason) {
      return new Component(State.DEGRADED, reason);
    }

    static Component down(String reason) {
      return new Component(State.DOWN, reason);
    }
  }

  static HealthReport of(Map<String, Component> components) {
    State worst =
        components.values().stream().map(Component::status).max(State::compareTo).orElse(State.UP);
    return new HealthReport(worst, components);
  }
}
