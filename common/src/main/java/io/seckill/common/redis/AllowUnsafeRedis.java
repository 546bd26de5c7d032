package io.seckill.common.redis;

/**
 * The use of a Redis whose settings may make it lose orders; bound from {@code
 * seckill.preheat.allow-unsafe-redis}.
 */
public enum AllowUnsafeRedis {
  /** Everything: the settings are reported only. */
  TRUE,
  /** No sale begins; a running one continues, also on a promoted server. */
  FALSE,
  /** As FALSE, and nothing is sold from a server that was promoted or restarted. */
  NEVER
}
