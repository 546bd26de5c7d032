package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I6: no request was admitted a second time, under another order id. */
public record AdmittedOnce(Explained explained) implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    if (!explained.aliases()) {
      assertThat(sale.aliases())
          .as("second orders of requests that had one, SKU %d", sale.skuId())
          .isEmpty();
    }
  }
}
