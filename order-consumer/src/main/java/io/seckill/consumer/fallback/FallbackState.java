package io.seckill.consumer.fallback;

/** Who decides the sales of Redis; column {@code fallback.state}. */
enum FallbackState {
  REDIS,
  /** Nobody: gateways hand over what they have promised. */
  ENTERING,
  MYSQL,
  /** MySQL, or nobody, until each sale is loaded into Redis. */
  RETURNING
}
