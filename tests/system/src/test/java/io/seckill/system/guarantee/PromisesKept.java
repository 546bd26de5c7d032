package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/**
 * No order that a shopper was told of, with 202 or 201, was rejected later or turned out to be a
 * second order of the same purchase.
 */
public final class PromisesKept implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Set<String> broken = new HashSet<>(sale.aliases());
    sale.orders().stream()
        .filter(order -> order.status().equals("REJECTED"))
        .forEach(order -> broken.add(order.orderId()));
    broken.retainAll(purchases.acceptedOrders(sale.skuId()));
    assertThat(broken).as("orders of SKU %d promised and rejected", sale.skuId()).isEmpty();
  }
}
