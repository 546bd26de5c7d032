package io.seckill.gateway.admission;

import io.seckill.gateway.web.ProblemCode;

/** Reason for refusing a purchase: nothing was written, and the same key may be tried again. */
enum Refusal implements Admission {
  UNKNOWN_SKU(ProblemCode.UNKNOWN_SKU),
  NOT_OPEN(ProblemCode.NOT_OPEN),
  PAUSED(ProblemCode.PAUSED),
  CLOSED(ProblemCode.CLOSED),
  /** The quantity is above the SKU's bound for one order. */
  QUANTITY(ProblemCode.INVALID_REQUEST),
  QUOTA_EXCEEDED(ProblemCode.QUOTA_EXCEEDED),
  /** Stock is 0. */
  SOLD_OUT(ProblemCode.SOLD_OUT),
  /** Stock is not 0, but less than the quantity of this purchase. */
  TOO_FEW_LEFT(ProblemCode.SOLD_OUT),
  IDEMPOTENCY_KEY_REUSED(ProblemCode.IDEMPOTENCY_KEY_REUSED);

  private final ProblemCode problem;

  Refusal(ProblemCode problem) {
    this.problem = problem;
  }

  ProblemCode problem() {
    return problem;
  }
}
