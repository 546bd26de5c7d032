package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.Charge;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.payment.ChargeOutcomes.ChargeAnswer;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderRow;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Payments of a service that is started already, by another provider than its own. */
public final class PaidBy {

  private final Orders orders;
  private final Payments payments;
  private final PaymentSweep sweep;
  private final TestConsumer consumer;

  public PaidBy(PaymentProvider provider, TestConsumer consumer) {
    this.consumer = consumer;
    this.orders = consumer.bean(Orders.class);
    this.payments =
        new Payments(
            consumer.bean(Orders.class),
            consumer.bean(PaymentTable.class),
            provider,
            consumer.bean(ChargeOutcomes.class),
            consumer.bean(PaymentMeters.class),
            consumer.bean(ConnectionShare.class));
    this.sweep =
        new PaymentSweep(
            consumer.bean(Orders.class),
            consumer.bean(PaymentTable.class),
            provider,
            payments,
            consumer.bean(ChargeReports.class),
            consumer.bean(Pace.class));
  }

  /** As when the shopper pays. */
  public OrderRow pay(OrderId order, long user) {
    return payments.pay(new OrderPayment(order, user));
  }

  /** As when a gateway sends several payments. */
  public List<PaymentOutcome> pay(List<OrderPayment> list) {
    return payments.pay(list);
  }

  /** As when a shopper's payment begins; false when it would have to wait. */
  public boolean begins(OrderId order, long user) {
    OrderPayment attempt = new OrderPayment(order, user);
    return payments.begin(Set.of(attempt), false).containsKey(attempt);
  }

  /** As when the provider has charged several orders; returns those that need not wait. */
  public List<OrderRow> settle(List<OrderId> charged) {
    return List.copyOf(
        payments
            .settle(
                charged.stream()
                    .map(id -> new ChargeAnswer(id, new Charge.Charged("acme-" + id)))
                    .collect(Collectors.toSet()))
            .values());
  }

  /** As when the provider reports a charge. */
  public void settle(OrderId order, String chargeId) {
    var unused = payments.settle(orders.find(order).orElseThrow(), chargeId);
  }

  /** Checks a payment, as the sweep does when it is due. */
  public void look(OrderId order) {
    sweep.look(order);
  }

  /** Expires the orders that are due, as the sweep does. */
  public void expire() {
    ExpirySweep.by(consumer);
  }
}
