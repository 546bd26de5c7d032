package io.seckill.system.guarantee;

import java.util.Set;

/**
 * Deviations that the fault of a run explains, and that guarantees accept. All others are
 * violations.
 *
 * @param rejections reasons for which MySQL may have rejected what Redis had admitted
 * @param aliases whether a request may have been admitted under a second order id
 * @param repairs kinds of repair that a reconciliation may have made
 */
public record Explained(Set<String> rejections, boolean aliases, Set<String> repairs) {

  public static final Explained NOTHING = new Explained(Set.of(), false, Set.of());

  /**
   * After ten seconds without Redis a reconciliation may return a cancelled order's units before
   * the sweep does.
   */
  public static final Explained REDIS_AWAY = NOTHING.withRepairs("COMPENSATION_REPLAYED");

  public Explained withRejections(String... reasons) {
    return new Explained(Set.of(reasons), aliases, repairs);
  }

  public Explained withAliases() {
    return new Explained(rejections, true, repairs);
  }

  public Explained withRepairs(String... kinds) {
    return new Explained(rejections, aliases, Set.of(kinds));
  }
}
