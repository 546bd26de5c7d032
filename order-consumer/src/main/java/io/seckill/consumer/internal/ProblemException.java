package io.seckill.consumer.internal;

import java.time.Duration;

/**
 * Carries a problem response: thrown while a request is handled and turned into problem+json at the
 * HTTP boundary. It has no stack trace, because it is a response and not a defect.
 */
@SuppressWarnings("serial") // never serialized
public final class ProblemException extends RuntimeException {

  private final Problem problem;

  private ProblemException(Problem problem) {
    super(problem.status() + " " + problem.code() + ": " + problem.detail(), null, false, false);
    this.problem = problem;
  }

  /** 400: {@code field} of the body, path, query or headers is invalid. */
  public static ProblemException invalid(String field, String detail) {
    return new ProblemException(
        new Problem(400, Problem.INVALID_REQUEST, detail, field, null, null, null));
  }

  /** 404 with its own code, such as UNKNOWN_SKU. */
  public static ProblemException notFound(String code, String detail) {
    return of(404, code, detail);
  }

  /** 409 with its own code. */
  public static ProblemException conflict(String code, String detail) {
    return of(409, code, detail);
  }

  /** 409 because of the value of a member of the body. */
  public static ProblemException fieldConflict(String code, String detail, String field) {
    return new ProblemException(new Problem(409, code, detail, field, null, null, null));
  }

  /** 409 because of the status of the order. */
  public static ProblemException orderConflict(String code, String detail, String orderStatus) {
    return new ProblemException(new Problem(409, code, detail, null, orderStatus, null, null));
  }

  /** 409 because of the state of the sale. */
  public static ProblemException saleConflict(String code, String detail, String saleState) {
    return new ProblemException(new Problem(409, code, detail, null, null, saleState, null));
  }

  /** 503: a system the request needs is unavailable; the same request may be sent again. */
  public static ProblemException unavailable(String detail) {
    return new ProblemException(
        new Problem(503, Problem.UNAVAILABLE, detail, null, null, null, Duration.ofSeconds(1)));
  }

  /** Any status with its code. */
  public static ProblemException of(int status, String code, String detail) {
    return new ProblemException(new Problem(status, code, detail, null, null, null, null));
  }

  /** The response for the caller. */
  public Problem problem() {
    return problem;
  }
}
