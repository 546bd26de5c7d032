package io.seckill.consumer.payment;

/** Why a report of the payment provider needs an operator. */
enum UnexplainedReason {
  /** The order is not stored; it may be on its way, or a dead letter. */
  UNKNOWN_ORDER,
  /** Less or more than the order costs. */
  OTHER_AMOUNT,
  /** Another currency than the one agreed. */
  OTHER_CURRENCY,
  /** Another charge has paid for the order. */
  SECOND_CHARGE,
  /** The charge was reported for another order before. */
  CHARGE_OF_OTHER_ORDER,
  /** The charge was reported differently before, or an operator has dealt with it. */
  CONTRADICTED,
  /** The sale of the order is archived, and another charge or none has paid for it. */
  ARCHIVED_ORDER,
  /** The provider has refunded money without a request. */
  REFUNDED_BY_PROVIDER,
  /** A signed callback that does not follow the contract. */
  UNREADABLE
}
