package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/** I13: every order a shopper was promised, and every order Redis admitted, is in MySQL. */
public final class NothingLost implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Set<String> lost = new HashSet<>(purchases.acceptedOrders(sale.skuId()));
    lost.addAll(sale.admitted());
    sale.orders().forEach(order -> lost.remove(order.orderId()));
    lost.removeAll(sale.aliases());
    assertThat(lost).as("orders of SKU %d promised but nowhere", sale.skuId()).isEmpty();
  }
}
