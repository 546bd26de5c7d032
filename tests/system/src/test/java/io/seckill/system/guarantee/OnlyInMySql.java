package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A strong sale is in MySQL alone: Redis has no key of it, nothing is to be compensated there, and
 * no reconciliation had anything to repair. No order of it has a second id.
 */
public final class OnlyInMySql implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.traces()).as("what Redis has of SKU %d", sale.skuId()).isEmpty();
    assertThat(sale.compensations())
        .as("orders of SKU %d to be compensated in Redis", sale.skuId())
        .isEmpty();
    assertThat(sale.aliases()).as("second ids of orders of SKU %d", sale.skuId()).isEmpty();
    assertThat(sale.repairs()).as("repairs of SKU %d", sale.skuId()).isEmpty();
  }
}
