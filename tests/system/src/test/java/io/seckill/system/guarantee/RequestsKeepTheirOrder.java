package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Purchases.Request;
import java.util.Map;

/**
 * I9: a user's key got one order id, and Redis and MySQL have stored that id for it; of a strong
 * sale MySQL alone.
 */
public final class RequestsKeepTheirOrder implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    assertThat(purchases.contradictions()).as("answers that contradict another").isEmpty();
    for (Map.Entry<Request, String> promise : purchases.accepted().entrySet()) {
      Request request = promise.getKey();
      if (request.skuId() == sale.skuId() && !sale.offer().isStrong()) {
        assertThat(sale.requests().get(request.userId() + ":" + request.key()))
            .as("order of %s in Redis", request)
            .isEqualTo(promise.getValue());
      }
    }
    for (OrderHistoryRow order : sale.orders()) {
      String promised = purchases.accepted().get(Request.of(sale.skuId(), order));
      if (promised != null && !sale.aliases().contains(promised)) {
        assertThat(order.orderId())
            .as("order of %d:%s in MySQL", order.userId(), order.requestId())
            .isEqualTo(promised);
      }
    }
  }
}
