package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Purchases.Refusal;
import io.seckill.system.guarantee.Purchases.Request;

/**
 * A purchase that was refused has no order, if no other try of it is in doubt: each was answered,
 * with a refusal or with {@code BUSY}, and both say that nothing was written.
 */
public final class RefusedHasNoOrder implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    for (OrderHistoryRow order : sale.orders()) {
      Refusal refusal = purchases.refused().get(Request.of(sale.skuId(), order));
      assertThat(refusal != null && refusal.certain())
          .as("%s, whose purchase was refused with %s", order, refusal)
          .isFalse();
    }
  }
}
