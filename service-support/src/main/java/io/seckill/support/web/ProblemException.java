package io.seckill.support.web;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A response that is a problem: thrown while a request is handled, written at the HTTP boundary.
 * Carries only what the caller may know; it has no stack trace, because it is a response and not a
 * defect.
 */
@SuppressWarnings("serial") // never serialized
public final class ProblemException extends RuntimeException {

  private final Problem problem;

  public ProblemException(Problem problem) {
    super(problem.status() + " " + problem.code() + ": " + problem.detail(), null, false, false);
    this.problem = problem;
  }

  /** 400: {@code field} of the body, path, query or headers is invalid. */
  public static ProblemException invalid(String field, String detail) {
    return of(400, Problem.INVALID_REQUEST, detail, field, null, null);
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
    return of(409, code, detail, field, null, null);
  }

  /** 409 because of the status of the order. */
  public static ProblemException orderConflict(String code, String detail, String orderStatus) {
    return of(409, code, detail, null, orderStatus, null);
  }

  /** 409 because of the state of the sale. */
  public static ProblemException saleConflict(String code, String detail, String saleState) {
    return of(409, code, detail, null, null, saleState);
  }

  /** 503 UNAVAILABLE: as {@link #unavailable(String, String)}. */
  public static ProblemException unavailable(String detail) {
    return unavailable(Problem.UNAVAILABLE, detail);
  }

  /** 503: something that the request needs is unavailable; the same request may be sent again. */
  public static ProblemException unavailable(String code, String detail) {
    return new ProblemException(
        new Problem(503, code, detail, null, null, null, Duration.ofSeconds(1)));
  }

  /** Any status with its code. */
  public static ProblemException of(int status, String code, String detail) {
    return new ProblemException(Problem.of(status, code, detail));
  }

  private static ProblemException of(
      int status,
      String code,
      String detail,
      @Nullable String field,
      @Nullable String orderStatus,
      @Nullable String saleState) {
    return new ProblemException(
        new Problem(status, code, detail, field, orderStatus, saleState, null));
  }

  /** The problem that is sent to the caller. */
  public Problem problem() {
    return problem;
  }
}
