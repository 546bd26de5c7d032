package io.seckill.consumer.payment;

import io.seckill.support.web.PathIds;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Orders that operators look up, on the internal port. */
@RestController
record OrderLookupController(OrderLookup orders) {

  @GetMapping("/internal/v1/orders/{id}")
  LookedUpOrder show(@PathVariable String id) {
    return orders.show(PathIds.order(id));
  }
}
