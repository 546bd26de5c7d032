package io.seckill.gateway.admission;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import org.jspecify.annotations.Nullable;

/** Reason for refusing a purchase: nothing was written, and the same key may be tried again. */
enum Refusal implements Admission {
  UNKNOWN_SKU(ProblemCode.UNKNOWN_SKU),
  NOT_OPEN(ProblemCode.NOT_OPEN),
  PAUSED(ProblemCode.PAUSED),
  CLOSED(ProblemCode.CLOSED),
  /** The quantity is above the SKU's bound for one order. */
  QUANTITY(
      ProblemCode.INVALID_REQUEST,
      "The quantity is above what one order of this sale may have.",
      "quantity"),
  QUOTA_EXCEEDED(ProblemCode.QUOTA_EXCEEDED),
  SOLD_OUT(ProblemCode.SOLD_OUT),
  /** Stock is not 0, but less than the quantity of this purchase. */
  TOO_FEW_LEFT(ProblemCode.TOO_FEW_LEFT),
  IDEMPOTENCY_KEY_REUSED(ProblemCode.IDEMPOTENCY_KEY_REUSED);

  private final ProblemCode code;
  private final @Nullable String detail;
  private final @Nullable String field;

  Refusal(ProblemCode code) {
    this(code, null, null);
  }

  Refusal(ProblemCode code, @Nullable String detail, @Nullable String field) {
    this.code = code;
    this.detail = detail;
    this.field = field;
  }

  Problem problem() {
    return new Problem(code, detail, field, null, null);
  }
}
