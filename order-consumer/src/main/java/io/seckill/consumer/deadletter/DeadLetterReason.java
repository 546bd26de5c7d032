package io.seckill.consumer.deadletter;

/** Why a message became a dead letter. */
public enum DeadLetterReason {
  /** It is not an order message, or exceeds the bounds of one. */
  UNREADABLE,
  /** A version of the order message that this release does not read; a later one may. */
  UNSUPPORTED_VERSION,
  /** MySQL has no such product. */
  UNKNOWN_SKU,
  /** The policy in the message differs from the product's. */
  OTHER_POLICY,
  /** Its order id is stored with other content. */
  OTHER_CONTENT,
  /** MySQL refused this single order several times. */
  FAILED_TOO_OFTEN,
  /** The broker dropped it; its headers have the reason. */
  DROPPED_BY_BROKER
}
