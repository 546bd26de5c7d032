package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I1: MySQL's stock is the units put on sale minus the units owned, and never below zero. */
public final class NeverOversold implements Guarantee {

  @Override
  public boolean holdsForAShard() {
    return true;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.ownedUnits())
        .as("units of SKU %d that shoppers own", sale.skuId())
        .isLessThanOrEqualTo(sale.offer().stock());
    assertThat(sale.mysqlStock())
        .as("stock of SKU %d in MySQL", sale.skuId())
        .isEqualTo(sale.offer().stock() - sale.ownedUnits());
  }
}
