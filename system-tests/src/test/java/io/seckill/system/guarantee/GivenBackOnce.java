package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/**
 * I7: units come back from exactly the orders that ended without an owner, and Redis has had each
 * once; that no unit came twice shows in {@link StoresAgree}.
 */
public final class GivenBackOnce implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Set<String> ended = new HashSet<>(sale.aliases());
    sale.orders().stream()
        .filter(order -> !order.owns())
        .forEach(order -> ended.add(order.orderId()));
    assertThat(sale.giveBacks().values())
        .as("give-backs of SKU %d that Redis has not confirmed", sale.skuId())
        .doesNotContain(false);
    assertThat(sale.givenBack())
        .as("orders of SKU %d given back in Redis", sale.skuId())
        .isEqualTo(sale.giveBacks().keySet());
    assertThat(ended)
        .as("ended orders of SKU %d", sale.skuId())
        .containsAll(sale.giveBacks().keySet());
    assertThat(sale.giveBacks().keySet())
        .as("give-backs of SKU %d", sale.skuId())
        .containsAll(
            sale.orders().stream()
                .filter(order -> order.status().equals("CANCELLED"))
                .map(StoredOrder::orderId)
                .toList());
  }
}
