package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/**
 * I13 after Redis has lost data: no accepted order is missing except those that were only in the
 * lost data.
 *
 * @param lost order ids that were only in Redis's lists when it lost them
 */
public record LossIsMeasured(Set<String> lost) implements Guarantee {

  public LossIsMeasured {
    lost = Set.copyOf(lost);
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Set<String> missing = new HashSet<>(purchases.acceptedOrders(sale.skuId()));
    sale.orders().forEach(order -> missing.remove(order.orderId()));
    missing.removeAll(sale.aliases());
    assertThat(lost).as("orders of SKU %d that are missing", sale.skuId()).containsAll(missing);
  }
}
