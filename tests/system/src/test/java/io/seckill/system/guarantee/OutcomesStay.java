package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An admitted order stays confirmed until its shopper pays or cancels. An end that was confirmed to
 * the shopper is final, and nothing else ends the order. MySQL rejects only what the fault
 * explains.
 */
public record OutcomesStay(Explained explained) implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    for (OrderHistoryRow order : sale.orders()) {
      String told = purchases.outcomes().get(order.orderId());
      boolean rejectedWithReason =
          order.status().equals("REJECTED") && explained.rejections().contains(order.reason());
      boolean endedUnanswered =
          order.status().equals(purchases.unansweredEnds().get(order.orderId()));
      if (told != null || !(rejectedWithReason || endedUnanswered)) {
        assertThat(order.status())
            .as("how %s of SKU %d ended", order, sale.skuId())
            .isEqualTo(told == null ? "CONFIRMED" : told);
      }
    }
  }
}
