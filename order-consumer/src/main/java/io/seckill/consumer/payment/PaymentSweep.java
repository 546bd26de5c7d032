package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.logging.ThrottledLog;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

/**
 * Completes payments that a crash or a late provider leaves unfinished. A payment is checked, at
 * growing intervals, until its order is PAID by this provider, or otherwise over and the provider
 * can book no charge any more.
 */
@Component
record PaymentSweep(
    Orders orders,
    PaymentTable table,
    PaymentProvider provider,
    Payments payments,
    ChargeReports reports,
    Pace pace) {

  private static final Logger log = LoggerFactory.getLogger(PaymentSweep.class);
  private static final ThrottledLog unavailable = new ThrottledLog(log);

  /** Payments read at once, and checked one after the other. */
  private static final int SWEEP_BATCH = 200;

  /** It finds only work that a crash left unfinished, which is not urgent. */
  private static final Duration PAUSE = Duration.ofSeconds(10);

  @Bean
  Sweeper paymentSweeper() {
    return new Sweeper("payment-sweep", PAUSE, this::sweep);
  }

  /** Checks all due payments; two processes may do so. */
  void sweep() {
    List<OrderId> due;
    do {
      due = pace.step(this::lookAtDue);
    } while (due.size() == SWEEP_BATCH && !Thread.currentThread().isInterrupted());
  }

  private List<OrderId> lookAtDue() {
    List<OrderId> due = table.due(SWEEP_BATCH);
    due.stream()
        .takeWhile(order -> !Thread.currentThread().isInterrupted())
        .filter(table::claim)
        .forEach(this::look);
    return due;
  }

  void look(OrderId orderId) {
    Optional<OrderRow> order = orders.find(orderId);
    if (order.isEmpty()) {
      log.error("order {}: has a payment but is not stored", orderId);
      return;
    }
    try {
      look(order.get(), Payments.answer(() -> provider.find(orderId)));
    } catch (PaymentUnavailableException e) {
      unavailable.warn("order " + orderId + ": whether it was charged is still unknown", e);
    }
  }

  private void look(OrderRow order, Optional<PaymentProvider.Charge.Charged> charge) {
    boolean isPaidByOther =
        order.status() == OrderStatus.PAID
            && !(provider instanceof ChargesInTransaction)
            && table.isPaidByWallet(order.orderId());
    if (charge.isPresent()) {
      settle(order, charge.get().chargeId());
      if (isPaidByOther) {
        table.closed(order.orderId(), Duration.ZERO); // an operator returns the second charge
      }
    } else if (provider instanceof ChargesInTransaction own && !own.hasCharge(order.orderId())) {
      log.error(Payments.ELSEWHERE, order.orderId());
    } else if (order.status().hasEnded()) {
      table.refundDue(order.orderId());
      payments.refund(order.orderId(), false);
    } else if (isPaidByOther) {
      payments.refund(order.orderId(), false);
    }
  }

  private void settle(OrderRow order, String chargeId) {
    if (payments.settle(order, chargeId) != UnexplainedReason.ARCHIVED_ORDER) {
      return;
    }
    if (order.status().hasEnded()) {
      table.refundDue(order.orderId());
      payments.refund(order.orderId(), true);
    } else {
      var unused =
          reports.recorded(ChargeReport.ofPrice(order, chargeId), UnexplainedReason.ARCHIVED_ORDER);
    }
  }
}
