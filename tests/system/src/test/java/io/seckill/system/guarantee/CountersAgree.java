package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I14: the services' counters match the contents of the stores, duplicates counted once. */
public final class CountersAgree implements Guarantee {

  @Override
  public boolean holdsForAShard() {
    return true;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    SaleCounters counters = sale.counters();
    assertThat(counters.settled())
        .as("orders of SKU %d counted when they were settled", sale.skuId())
        .isEqualTo(sale.orders().size() + counters.aliased());
    assertThat(counters.storedSeq())
        .as("highest admission of SKU %d in MySQL", sale.skuId())
        .isEqualTo(sale.offer().isStrong() ? counters.settled() : counters.admissionSeq());
    if (sale.offer().isStrong()) {
      return; // nothing else counts its orders
    }
    assertThat(counters.admitted())
        .as("orders of SKU %d counted at admission", sale.skuId())
        .isEqualTo(sale.admitted().size());
    assertThat(counters.published())
        .as("orders of SKU %d counted when they left a private queue", sale.skuId())
        .isEqualTo(counters.admitted());
  }
}
