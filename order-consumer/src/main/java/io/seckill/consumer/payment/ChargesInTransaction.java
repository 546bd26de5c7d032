package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.Charge;
import io.seckill.common.payment.PaymentProvider.ChargeRequest;
import java.util.Collection;
import java.util.Map;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * A payment provider whose books are in the database of the orders: a charge and the payment of its
 * order are one transaction, so neither is ever without the other.
 */
public interface ChargesInTransaction extends PaymentProvider {

  /** What the ids of these charges begin with; the id of the order follows. */
  String ID_PREFIX = "wallet-";

  /** Whether an order was charged, even if nothing of it is left. */
  boolean hasCharge(OrderId orderId);

  /**
   * Is called after a transaction that has declined charges of these users. Returns whether another
   * attempt may succeed.
   */
  boolean endow(Collection<Long> users);

  /**
   * Charges as {@link #charge(ChargeRequest)}, in the caller's transaction, which holds the locks
   * of the orders.
   *
   * @param requests one for each order
   * @param waits for wallets that another transaction has locked; else their orders have no answer
   * @param areNew false after MySQL has refused a row, and rolled back: an order may be charged
   */
  Map<OrderId, Charge> chargeAll(
      JdbcOperations transaction,
      Collection<ChargeRequest> requests,
      boolean waits,
      boolean areNew);
}
