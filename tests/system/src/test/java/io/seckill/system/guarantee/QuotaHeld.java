package io.seckill.system.guarantee;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summingLong;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;

/** I2: a user's quota in MySQL is the sum of the units owned, and never above the limit. */
public final class QuotaHeld implements Guarantee {

  @Override
  public boolean holdsForAShard() {
    return true;
  }

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    if (sale.offer().limit() == 0) {
      return; // UNLIMITED keeps no quota
    }
    Map<Long, Long> owned =
        sale.orders().stream()
            .filter(OrderHistoryRow::owns)
            .collect(groupingBy(OrderHistoryRow::userId, summingLong(OrderHistoryRow::quantity)));
    assertThat(withoutZeros(sale.mysqlQuota()))
        .as("quota of SKU %d in MySQL", sale.skuId())
        .isEqualTo(owned);
    assertThat(owned.values())
        .as("units of one user, SKU %d", sale.skuId())
        .allMatch(
            units -> units <= sale.offer().limit(), "within the limit of " + sale.offer().limit());
  }

  static Map<Long, Long> withoutZeros(Map<Long, Long> quota) {
    Map<Long, Long> some = new HashMap<>(quota);
    some.values().removeIf(units -> units == 0);
    return some;
  }
}
