package io.seckill.gateway.admin;

import io.seckill.support.web.ProblemException;
import io.seckill.support.web.SingleLine;
import io.seckill.support.web.StrictJson;
import org.jspecify.annotations.Nullable;

/** The body of a stock change: units to add, or to withdraw when negative, and why. */
record StockBody(@Nullable Long delta, @Nullable String reason) {

  private static final int MAX_REASON = 200;
  private static final long MAX_DELTA = 1_000_000_000L;

  /** A stock change within bounds. */
  record Change(long delta, String reason) {}

  /**
   * @throws ProblemException 400 naming the first member that is out of bounds
   */
  static Change checked(byte[] json) {
    StockBody body = StrictJson.read(json, StockBody.class);
    Long delta = body.delta;
    if (delta == null || delta == 0 || delta < -MAX_DELTA || delta > MAX_DELTA) {
      throw ProblemException.invalid(
          "delta", "delta must be an integer from -" + MAX_DELTA + " to " + MAX_DELTA + ", not 0.");
    }
    return new Change(delta, SingleLine.checked("reason", body.reason, MAX_REASON));
  }
}
