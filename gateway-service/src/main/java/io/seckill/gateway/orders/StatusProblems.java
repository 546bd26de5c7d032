package io.seckill.gateway.orders;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import java.time.Duration;

/** The problems that are returned when there is no status to show. */
final class StatusProblems {

  static final Problem UNKNOWN = Problem.of(404, Problem.UNKNOWN_ORDER, "There is no such order.");

  static final Problem UNAVAILABLE =
      new Problem(
          503,
          "STATUS_UNAVAILABLE",
          "The order cannot be looked up at the moment.",
          null,
          null,
          null,
          Duration.ofSeconds(1));

  private StatusProblems() {}

  /** Returns the problem for a status other than {@code Known}. */
  static Problem of(OrderStatuses.Status status) {
    if (status instanceof OrderStatuses.Status.TooMany) {
      return Problem.TOO_MANY;
    }
    return status instanceof OrderStatuses.Status.NotFound ? UNKNOWN : UNAVAILABLE;
  }

  /**
   * Returns the order.
   *
   * @throws ProblemException 404, 429 or 503 when there is none to show
   */
  static OrderView known(OrderStatuses.Status status) {
    if (status instanceof OrderStatuses.Status.Known known) {
      return known.order();
    }
    throw new ProblemException(of(status));
  }
}
