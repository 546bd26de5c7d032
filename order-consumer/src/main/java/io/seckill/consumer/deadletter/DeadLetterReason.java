package io.seckill.consumer.deadletter;

/** Why a message was given up on. */
public enum DeadLetterReason {
  /** Not an order message of a version we know, within its bounds. */
  UNREADABLE,
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
