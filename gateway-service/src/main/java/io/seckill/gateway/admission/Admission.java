package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;

/** What became of one purchase attempt. */
sealed interface Admission {

  /**
   * Units were taken and the order stands in the outbox.
   *
   * @param position place in the SKU's queue, from 1
   */
  record Admitted(OrderId orderId, long position) implements Admission {}

  /**
   * The same user had bought with the same key before; nothing was taken.
   *
   * @param orderId the first answer's
   * @param status latest known
   * @param position place in the queue, from 1; 0 when the order no longer waits
   */
  record Repeated(OrderId orderId, OrderStatus status, long position) implements Admission {}

  /** Decided: no. */
  record Refused(Refusal reason) implements Admission {}

  /** Never sent to Redis: this attempt took nothing, an earlier one with its key may have. */
  record Busy() implements Admission {}

  /** Neither yes nor no; only the same key can tell. */
  record Unknown(Cause cause) implements Admission {}

  /** Why an outcome is unknown. */
  enum Cause {
    /** Redis did not answer, or answered with an error. */
    REDIS,
    /** The circuit breaker is open. */
    BREAKER,
    /** Redis came back with other data that is not yet verified. */
    UNVERIFIED,
    /** MySQL knows more of this SKU than Redis does; it waits to be rebuilt. */
    HELD,
    /** This gateway holds no worker number, so it makes no order ids. */
    NO_WORKER,
    /** Fewer replicas confirmed than configured; the order may well be admitted. */
    REPLICAS,
    /** A key of the SKU is missing, unreadable or of the wrong type. */
    BROKEN_DATA
  }
}
