package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I5: every stored order goes back to an attempt of a shopper. */
public final class NothingInvented implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.orders())
        .as("orders of SKU %d", sale.skuId())
        .allMatch(purchases::wasAttempted, "was attempted by its user with its key");
  }
}
