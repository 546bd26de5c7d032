package io.seckill.support.web;

/**
 * A response that is a problem: thrown while a request is handled, written at the HTTP boundary.
 * Carries only what the caller may know; it has no stack trace, because it is a response and not a
 * defect.
 */
@SuppressWarnings("serial") // never serialized
public final class ProblemException extends RuntimeException {

  private final Problem problem;

  public ProblemException(Problem problem) {
    super(problem.code() + ": " + problem.text(), null, false, false);
    this.problem = problem;
  }

  public static ProblemException of(ProblemCode code) {
    return new ProblemException(Problem.of(code));
  }

  public static ProblemException of(ProblemCode code, String detail) {
    return new ProblemException(Problem.of(code, detail));
  }

  /** 400: {@code field} of the body, path, query or headers is invalid. */
  public static ProblemException invalid(String field, String detail) {
    return ofField(ProblemCode.INVALID_REQUEST, detail, field);
  }

  public static ProblemException ofField(ProblemCode code, String detail, String field) {
    return new ProblemException(new Problem(code, detail, field, null, null));
  }

  public static ProblemException ofOrder(ProblemCode code, String detail, String orderStatus) {
    return new ProblemException(new Problem(code, detail, null, orderStatus, null));
  }

  public static ProblemException ofSale(ProblemCode code, String detail, String saleState) {
    return new ProblemException(new Problem(code, detail, null, null, saleState));
  }

  public Problem problem() {
    return problem;
  }
}
