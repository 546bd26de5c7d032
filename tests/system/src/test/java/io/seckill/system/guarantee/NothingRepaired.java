package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pipeline came to rest by itself: no reconciliation repaired anything except what the fault
 * explains. A repair would hide an order that a relay had lost, or units that were returned twice.
 * A result that could not be written while Redis was unavailable is written later by design, and
 * changes neither units nor orders.
 */
public record NothingRepaired(Explained explained) implements Guarantee {

  private static final String BY_DESIGN = "RESULT_WRITTEN";

  @Override
  public boolean holdsForAShard() {
    return true;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.repairs())
        .as("repairs of SKU %d", sale.skuId())
        .filteredOn(repair -> !repair.kind().equals(BY_DESIGN))
        .allMatch(repair -> explained.repairs().contains(repair.kind()), "explained by the fault");
  }
}
