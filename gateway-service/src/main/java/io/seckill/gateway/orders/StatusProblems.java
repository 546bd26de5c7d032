package io.seckill.gateway.orders;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;

/** The problems that are returned when there is no status to show. */
final class StatusProblems {

  private StatusProblems() {}

  /** Returns the problem for a status other than {@code Known}. */
  static ProblemCode of(OrderStatuses.Status status) {
    if (status instanceof OrderStatuses.Status.TooMany) {
      return ProblemCode.TOO_MANY_REQUESTS;
    }
    return status instanceof OrderStatuses.Status.NotFound
        ? ProblemCode.UNKNOWN_ORDER
        : ProblemCode.STATUS_UNAVAILABLE;
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
    throw ProblemException.of(of(status));
  }
}
