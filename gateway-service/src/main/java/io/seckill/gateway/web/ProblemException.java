package io.seckill.gateway.web;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A response that is a problem: thrown by a handler, written by {@link ProblemWriter}. Carries only
 * what the caller may know; it has no stack trace, because it is a response and not a defect.
 */
@SuppressWarnings("serial") // never serialized; Duration and String are serializable
public final class ProblemException extends RuntimeException {

  private final Problem problem;

  public ProblemException(Problem problem) {
    super(problem.status() + " " + problem.code(), null, false, false);
    this.problem = problem;
  }

  /** 400: {@code field} of the body, path or query is invalid. */
  public static ProblemException invalid(String field, String detail) {
    return new ProblemException(
        new Problem(400, Problem.INVALID_REQUEST, detail, field, null, null, null));
  }

  /** 404 with its own code, e.g. UNKNOWN_SKU. */
  public static ProblemException notFound(String code, String detail) {
    return of(404, code, detail);
  }

  /** 409 with its own code. */
  public static ProblemException conflict(String code, String detail) {
    return of(409, code, detail);
  }

  /** 503: something that the request needs is unavailable; the same request may be repeated. */
  public static ProblemException unavailable(String code, String detail) {
    return new ProblemException(
        new Problem(503, code, detail, null, null, null, Duration.ofSeconds(1)));
  }

  /** Any status with its code. */
  public static ProblemException of(int status, String code, String detail) {
    return new ProblemException(Problem.of(status, code, detail));
  }

  /** The problem that is sent to the caller. */
  public Problem problem() {
    return problem;
  }

  @Override
  public @Nullable String getMessage() {
    return super.getMessage() + ": " + problem.detail();
  }
}
