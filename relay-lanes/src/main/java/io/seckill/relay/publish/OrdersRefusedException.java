package io.seckill.relay.publish;

/**
 * The broker nacked or returned at least one order. The link is still usable; the refused orders
 * stay in the private queue and are published again later.
 */
public final class OrdersRefusedException extends Exception {

  private static final long serialVersionUID = 1L;

  OrdersRefusedException(String reason) {
    super(reason);
  }
}
