package io.seckill.bench.baseline;

/**
 * One cent that a wallet pays.
 *
 * @param chargeId also names its idempotency key
 */
public record Deduction(long userId, long chargeId) {

  /** The idempotency key. */
  public String requestId() {
    return "bench-" + chargeId;
  }
}
