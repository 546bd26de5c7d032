package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Purchases.Request;

/** I5: every stored order belongs to an attempt of a shopper, with the requested quantity. */
public final class NothingInvented implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    for (OrderHistoryRow order : sale.orders()) {
      assertThat(purchases.quantityOf(Request.of(sale.skuId(), order)))
          .as("units that were asked for by the purchase of %s", order)
          .isEqualTo(order.quantity());
    }
  }
}
