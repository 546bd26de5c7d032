package io.seckill.common.sale;

/** The store that decides the purchases of a sale. */
public enum Decider {
  /** Redis admits and MySQL decides later: a purchase is answered "queued". */
  REDIS,
  /** MySQL alone, while the shopper waits (a strong sale); Redis has nothing of it. */
  MYSQL
}
