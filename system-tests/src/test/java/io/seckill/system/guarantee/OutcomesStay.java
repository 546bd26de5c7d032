package io.seckill.system.guarantee;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;

/** What a shopper was told of an ended order stays: paid is paid, cancelled is cancelled. */
public final class OutcomesStay implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    Map<String, String> stored =
        sale.orders().stream().collect(toMap(StoredOrder::orderId, StoredOrder::status));
    purchases
        .outcomes()
        .forEach(
            (orderId, told) -> {
              if (stored.containsKey(orderId)) {
                assertThat(stored.get(orderId)).as("order %s", orderId).isEqualTo(told);
              }
            });
  }
}
