package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pipeline came to rest by itself: no reconciliation had to set anything right but what the
 * fault explains. A repair would hide an order that a relay had lost, or units that came back
 * twice.
 */
public final class NothingRepaired implements Guarantee {

  private final Explained explained;

  public NothingRepaired(Explained explained) {
    this.explained = explained;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.repairs())
        .as("repairs of SKU %d", sale.skuId())
        .allMatch(repair -> explained.repairs().contains(repair.kind()), "explained by the fault");
  }
}
