package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;

/**
 * Nobody is told "no" who has an order: no order that was admitted before a try of the same
 * purchase was sent, and that try refused.
 *
 * <p>An order admitted after it is no lie. A refused key leaves no trace, so an earlier try that
 * was held up, in a frozen gateway or on a link, may come to Redis after a later one was refused,
 * find units that have come back meanwhile, and be admitted.
 */
public final class RefusalsAreTrue implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    for (StoredOrder order : sale.orders()) {
      OptionalLong refused = purchases.refusedTrySentAt(sale.skuId(), order);
      if (refused.isPresent()) {
        assertThat(order.admittedAtMs())
            .as("admission of %s, next to the sending of the try that was refused", order)
            .isGreaterThanOrEqualTo(refused.getAsLong());
      }
    }
  }
}
