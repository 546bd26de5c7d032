package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/** I6: one row per order id, one order per user and idempotency key. */
public final class StoredOnce implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(sale.orders()).extracting(StoredOrder::orderId).doesNotHaveDuplicates();
    assertThat(sale.orders())
        .extracting(order -> order.userId() + ":" + order.requestId())
        .doesNotHaveDuplicates();
  }
}
