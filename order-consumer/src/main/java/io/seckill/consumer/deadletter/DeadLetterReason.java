package io.seckill.consumer.deadletter;

/** Why a message was given up on. */
public enum DeadLetterReason {
  /** Not an order message within its bounds. */
  UNREADABLE,
  /** A version of the order message that this release does not read; a later one may. */
  UNSUPPORTED_VERSION,
  /** MySQL has no such product. */
  UNKNOWN_SKU,
  /** The message says another policy than the product. */
  OTHER_POLICY,
  /** Its order id is stored with other content. */
  OTHER_CONTENT,
  /** MySQL refused it alone, several times. */
  FAILED_TOO_OFTEN,
  /** The broker gave up on it; its headers say why. */
  DROPPED_BY_BROKER
}
