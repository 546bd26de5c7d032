package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I1: MySQL's stock is what was put on sale less what is owned, and never below zero. */
public final class NeverOversold implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.mysqlStock())
        .as("stock of SKU %d in MySQL", sale.skuId())
        .isNotNegative()
        .isEqualTo(sale.initialStock() - sale.ownedUnits());
  }
}
