package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;

/** Outcome of one purchase attempt. */
sealed interface Admission
    permits Admission.Queued,
        Admission.Aliased,
        Admission.Stored,
        Refusal,
        Admission.Busy,
        Admission.Unknown {

  /** There is an order for this purchase; Redis has admitted it. */
  sealed interface Queued extends Admission permits Admitted, Repeated {

    OrderId orderId();

    OrderStatus status();

    /** Place in the SKU's queue, from 1; 0 when the order is neither QUEUED nor DELAYED. */
    long position();
  }

  /**
   * Units were taken and the order is in the outbox, or in a private queue of this gateway, at this
   * position of the SKU's queue, from 1.
   */
  record Admitted(OrderId orderId, long position) implements Queued {

    /**
     * What a purchase of the warm-up is answered, for which the script has found no SKU: there is
     * no such order.
     */
    static final Admitted IN_WARM_UP = new Admitted(new OrderId(Long.MAX_VALUE), 1);

    @Override
    public OrderStatus status() {
      return OrderStatus.QUEUED;
    }
  }

  /**
   * The same user was admitted with the same idempotency key before; nothing was taken.
   *
   * @param orderId order id of the first answer
   * @param status latest known status
   */
  record Repeated(OrderId orderId, OrderStatus status, long position) implements Queued {}

  /**
   * The same, but MySQL stores the purchase under the id of another order of it, whose status only
   * MySQL has. {@link LateOutcomes} replaces this by {@link Repeated}.
   *
   * @param orderId order id of the first answer of Redis
   */
  record Aliased(OrderId orderId) implements Admission {}

  /**
   * There is an order for this purchase of a strong sale; MySQL has it.
   *
   * @param status CONFIRMED unless it is a repeat
   * @param isRepeat whether the same user bought with the same idempotency key before; nothing was
   *     taken
   */
  record Stored(OrderId orderId, OrderStatus status, boolean isRepeat) implements Admission {}

  /** Not decided. This attempt took nothing; an earlier attempt with the same key may have. */
  enum Busy implements Admission {
    /** A repeat may be decided in a second. */
    BRIEFLY,
    /** Its shard has too few units, and another shard of the SKU cannot be reached. */
    WITHOUT_A_SHARD
  }

  /** Not known whether the purchase was admitted; a repeat with the same key finds out. */
  enum Unknown implements Admission {
    /** Redis did not answer, or answered with an error. */
    REDIS,
    /** The circuit breaker is open. */
    BREAKER,
    /** The partition's server is not verified, as after a restart or a failover, or is refused. */
    UNVERIFIED,
    /** The SKU is quarantined until it is rebuilt: MySQL has newer data of it than Redis. */
    QUARANTINED,
    /** MySQL has a later epoch of the sale than Redis. */
    OLD_EPOCH,
    /**
     * With a fallback: this gateway cannot be sure that Redis still decides the sale, so it
     * promises nothing.
     */
    FALLBACK,
    /** This gateway holds no worker number, so it makes no order ids. */
    NO_WORKER,
    /** Fewer replicas confirmed than configured; the order may well be admitted. */
    REPLICAS,
    /** The broker has not confirmed the order in time; it is admitted. */
    BROKER,
    /** A key of the SKU is missing, unreadable or of the wrong type. */
    BROKEN_DATA,
    /**
     * The products have not been read since the start: the store that decides the sale is not
     * known.
     */
    PRODUCTS,
    /** order-consumer did not answer, or answered nonsense. */
    CONSUMER,
    /** MySQL failed while it stored the purchase. */
    MYSQL
  }
}
