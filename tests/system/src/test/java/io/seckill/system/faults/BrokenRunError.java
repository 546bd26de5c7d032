package io.seckill.system.faults;

import io.seckill.system.guarantee.RunHistory;
import java.util.List;

/** A run that violates a guarantee. */
final class BrokenRunError extends AssertionError {

  private static final long serialVersionUID = 1L;

  private final transient RunHistory history;
  private final transient List<String> complaints;

  /**
   * @param complaints the violations; each begins with the name of the guarantee
   */
  BrokenRunError(RunHistory history, List<String> complaints) {
    super(history.row() + " does not hold\n" + String.join("\n", complaints));
    this.history = history;
    this.complaints = List.copyOf(complaints);
  }

  /** What was judged. */
  RunHistory history() {
    return history;
  }

  List<String> complaints() {
    return complaints;
  }
}
