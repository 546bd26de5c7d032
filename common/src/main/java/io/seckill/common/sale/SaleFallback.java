package io.seckill.common.sale;

/** How far a sale of Redis is in a fallback (docs/engineering/adr/0021-fallback.md). */
public enum SaleFallback {
  /** In none: {@code decides} is as the operator chose it. */
  NO,
  /** Nobody decides: gateways hand over what they have promised. */
  ENTERING,
  /** MySQL decides. */
  ACTIVE,
  /** Nobody decides: the sale is being loaded into Redis. */
  RETURNING
}
