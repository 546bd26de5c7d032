package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;

/**
 * No order in an answer 202 or 201 to a shopper was rejected later or turned out to be a second
 * order of the same purchase.
 */
public final class PromisesKept implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Set<String> promised = purchases.acceptedOrders(sale.skuId());
    assertThat(sale.orders())
        .filteredOn(order -> order.status().equals("REJECTED"))
        .filteredOn(order -> promised.contains(order.orderId()))
        .as("orders of SKU %d promised and rejected", sale.skuId())
        .isEmpty();
    assertThat(sale.aliases())
        .as("second orders of purchases, SKU %d, promised", sale.skuId())
        .doesNotContainAnyElementsOf(promised);
  }
}
