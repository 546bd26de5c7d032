package io.seckill.system.guarantee;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Purchases.Request;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * I6, checked against the shoppers' purchases: each has one order and one row, and is charged once,
 * with the right amount, if and only if it is paid.
 */
public final class StoredOnce implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Map<Request, List<OrderHistoryRow>> rows =
        sale.orders().stream().collect(groupingBy(order -> Request.of(sale.skuId(), order)));
    rows.forEach(
        (request, orders) ->
            assertThat(orders).as("orders of one purchase, %s", request).hasSize(1));
    for (OrderHistoryRow order : sale.orders()) {
      long due = order.status().equals("PAID") ? order.quantity() * order.priceCents() : 0;
      assertThat(sale.charges().getOrDefault(order.orderId(), 0L))
          .as("cents charged for %s", order)
          .isEqualTo(due);
    }
    Set<String> stored = sale.orders().stream().map(OrderHistoryRow::orderId).collect(toSet());
    assertThat(stored).as("orders that were charged").containsAll(sale.charges().keySet());
  }
}
