package io.seckill.system.faults;

import java.util.List;

/** A run that violates a guarantee. */
final class BrokenRunError extends AssertionError {

  private static final long serialVersionUID = 1L;

  private final transient List<String> complaints;

  /**
   * @param complaints the violations; each begins with the name of the guarantee
   */
  BrokenRunError(String row, List<String> complaints) {
    super(row + " does not hold\n" + String.join("\n", complaints));
    this.complaints = List.copyOf(complaints);
  }

  List<String> complaints() {
    return complaints;
  }
}
