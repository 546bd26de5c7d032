package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;

/**
 * I7: exactly the orders that ended without an owner are compensated, and Redis has applied each
 * compensation once. {@link StoresAgree} and the counters of {@link CountersAgree} show that no
 * unit was returned twice.
 */
public final class CompensatedOnce implements Guarantee {

  @Override
  public boolean holdsForAShard() {
    return true;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Set<String> ended = new HashSet<>(sale.aliases());
    sale.orders().stream()
        .filter(order -> !order.owns())
        .filter(order -> holdsUnits(sale.offer(), order))
        .forEach(order -> ended.add(order.orderId()));
    assertThat(sale.compensations().keySet())
        .as("orders of SKU %d whose units go back", sale.skuId())
        .isEqualTo(ended);
    assertThat(sale.compensations().values())
        .as("compensations of SKU %d that Redis has not confirmed", sale.skuId())
        .doesNotContain(false);
    assertThat(sale.compensated())
        .as("orders of SKU %d given back in Redis", sale.skuId())
        .isEqualTo(sale.compensations().keySet());
  }

  /** An order rejected because MySQL had no stock was admitted with units that only Redis had. */
  private static boolean holdsUnits(SaleOffer offer, OrderHistoryRow order) {
    return !order.reason().equals("SOLD_OUT") || offer.policy().keepsQuota();
  }
}
