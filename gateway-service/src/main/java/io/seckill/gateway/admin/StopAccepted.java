package io.seckill.gateway.admin;

import io.seckill.common.sale.SaleState;

/**
 * A stop that one of the two stores has; the other follows as soon as it answers.
 *
 * @param state PAUSED or CLOSED
 * @param awaiting the store that follows
 * @param detail for operators
 */
record StopAccepted(long skuId, SaleState state, Store awaiting, String detail) {

  /** The store that does not have the stop yet. */
  enum Store {
    MYSQL(
        "Purchases are refused from now on. MySQL follows when order-consumer and MySQL answer;"
            + " the sale stays stopped until then."),
    REDIS(
        "MySQL has the stop. Redis does not answer; order-consumer and the gateways stop the sale"
            + " there when it does.");

    private final String detail;

    Store(String detail) {
      this.detail = detail;
    }
  }

  StopAccepted(long skuId, SaleState state, Store awaiting) {
    this(skuId, state, awaiting, awaiting.detail);
  }
}
