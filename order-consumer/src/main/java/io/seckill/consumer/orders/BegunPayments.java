package io.seckill.consumer.orders;

import io.seckill.common.order.OrderId;
import java.util.Collection;

/** The payments that were begun for orders. */
public interface BegunPayments {

  /** These orders end without a payment, in the caller's transaction, which has locked them. */
  void ended(Collection<OrderId> orders);
}
