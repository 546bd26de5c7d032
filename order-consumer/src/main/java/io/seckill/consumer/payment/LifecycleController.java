package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.orders.OrderRow;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Payment and cancellation on the internal port; the gateway calls it on behalf of a shopper. */
@RestController
@RequestMapping("/internal/v1/orders/{id}")
class LifecycleController {

  private final Orders orders;
  private final Payments payments;
  private final Cancellations cancellations;

  LifecycleController(Orders orders, Payments payments, Cancellations cancellations) {
    this.orders = orders;
    this.payments = payments;
    this.cancellations = cancellations;
  }

  @PostMapping("/payment")
  OrderRow pay(@PathVariable String id, JsonBody body) {
    long userId = user(body);
    return payments.pay(PathIds.order(id), userId);
  }

  @PostMapping("/cancel")
  OrderRow cancel(@PathVariable String id, JsonBody body) {
    long userId = user(body);
    OrderId orderId = PathIds.order(id);
    cancellations.cancel(orderId, userId);
    OrderRow now = orders.ofUser(orderId, userId);
    if (now.status() != OrderStatus.CANCELLED) {
      throw ProblemException.orderConflict(
          "NOT_CANCELLABLE",
          "An order that is " + now.status() + " cannot be cancelled.",
          now.status().name());
    }
    return now;
  }

  private static long user(JsonBody body) {
    long userId = body.integer("userId", 1, Long.MAX_VALUE);
    body.end();
    return userId;
  }
}
