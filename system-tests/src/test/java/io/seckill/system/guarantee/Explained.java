package io.seckill.system.guarantee;

import java.util.Set;

/**
 * What the fault of a run explains, and no judge holds against it. Everything else is a breach.
 *
 * @param rejections whether MySQL may reject what Redis had admitted
 * @param aliases whether a request may have been admitted under a second order id
 * @param repairs kinds of repair that a reconciliation may have made
 */
public record Explained(boolean rejections, boolean aliases, Set<String> repairs) {

  public static final Explained NOTHING = new Explained(false, false, Set.of());

  public Explained withRejections() {
    return new Explained(true, aliases, repairs);
  }

  public Explained withAliases() {
    return new Explained(rejections, true, repairs);
  }

  public Explained withRepairs(String... kinds) {
    return new Explained(rejections, aliases, Set.of(kinds));
  }
}
