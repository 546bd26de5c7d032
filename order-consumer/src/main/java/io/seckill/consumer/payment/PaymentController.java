package io.seckill.consumer.payment;

import static io.seckill.common.settings.SettingChecks.check;

import com.zaxxer.hikari.HikariDataSource;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcomes;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.contract.Shopper;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Payment and cancellation on the internal port; the gateway calls it on behalf of a shopper. */
@RestController
@RequestMapping("/internal/v1/orders")
record PaymentController(
    Orders orders, Payments payments, Cancellations cancellations, ConnectionShare lockWaits) {

  /** Half of the pool: operators' calls have the rest while shoppers' wait for a lock of MySQL. */
  @Bean
  static ConnectionShare lockWaits(HikariDataSource pool) {
    int connections = pool.getMaximumPoolSize();
    check(connections >= 2, "spring.datasource.hikari.maximum-pool-size must be at least 2");
    return new ConnectionShare(connections / 2);
  }

  @PostMapping("/payments")
  PaymentOutcomes pay(@JsonBody OrderPayments body) {
    return new PaymentOutcomes(payments.pay(body.payments()));
  }

  @PostMapping("/{id}/payment")
  OrderRow pay(@PathVariable String id, @JsonBody Shopper shopper) {
    return payments.pay(new OrderPayment(PathIds.order(id), shopper.userId()));
  }

  @PostMapping("/{id}/cancel")
  OrderRow cancel(@PathVariable String id, @JsonBody Shopper shopper) {
    OrderId orderId = PathIds.order(id);
    var unused = lockWaits.within(() -> cancellations.cancel(orderId, shopper.userId()));
    OrderRow now = orders.ofUser(orderId, shopper.userId());
    if (now.status() != OrderStatus.CANCELLED) {
      throw ProblemException.ofOrder(
          ProblemCode.NOT_CANCELLABLE,
          "An order that is " + now.status() + " cannot be cancelled.",
          now.status().name());
    }
    return now;
  }
}
