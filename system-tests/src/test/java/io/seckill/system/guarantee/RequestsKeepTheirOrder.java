package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;

/** I9: a user's key got one order id, and Redis and MySQL have kept that one for it. */
public final class RequestsKeepTheirOrder implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(purchases.contradictions()).as("answers that contradict another").isEmpty();
    for (Map.Entry<String, String> request : sale.requests().entrySet()) {
      String promised = purchases.orderOf(sale.skuId(), request.getKey());
      if (!promised.isEmpty()) {
        assertThat(request.getValue())
            .as("order of %s, SKU %d, in Redis", request.getKey(), sale.skuId())
            .isEqualTo(promised);
      }
    }
    for (StoredOrder order : sale.orders()) {
      String promised = purchases.orderOf(sale.skuId(), order.userId() + ":" + order.requestId());
      if (!promised.isEmpty() && !sale.aliases().contains(promised)) {
        assertThat(order.orderId())
            .as("order of %d:%s in MySQL", order.userId(), order.requestId())
            .isEqualTo(promised);
      }
    }
  }
}
