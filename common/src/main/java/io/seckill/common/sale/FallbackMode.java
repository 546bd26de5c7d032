package io.seckill.common.sale;

/**
 * Whether MySQL decides while Redis cannot ({@code seckill.fallback}); the same in all gateways and
 * order-consumers.
 */
public enum FallbackMode {
  /** Purchases are answered 503 until Redis is back. */
  OFF,
  /** Operators begin and end it. */
  MANUAL,
  /** It begins and ends by itself, or by operators. */
  AUTOMATIC;

  public boolean isOn() {
    return this != OFF;
  }
}
