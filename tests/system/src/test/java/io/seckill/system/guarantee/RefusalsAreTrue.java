package io.seckill.system.guarantee;

import static java.util.Comparator.comparingLong;
import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.Purchases.Refusal;
import io.seckill.system.guarantee.Purchases.Request;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Refusals are correct. A purchase that has an order is not refused: no order was admitted before a
 * refused attempt of the same purchase was sent. And no attempt is answered "sold out" while a unit
 * was left, nor "too few" or "above your limit" while enough were left for the shopper, even if all
 * units admitted by the time of the answer had been taken before the attempt was decided and none
 * had been returned.
 *
 * <p>An order admitted after a refusal is no violation. A refused key is not stored, so an earlier
 * attempt that was delayed, in a frozen gateway or on a link, may reach Redis after a later one was
 * refused, find units that have been returned meanwhile, and be admitted.
 */
public final class RefusalsAreTrue implements Guarantee {

  @Override
  public void judge(SaleAtRest sale, Purchases purchases) {
    for (OrderHistoryRow order : sale.orders()) {
      Refusal refusal = purchases.refused().get(Request.of(sale.skuId(), order));
      if (refusal != null) {
        assertThat(order.admittedAtMs())
            .as("admission of %s, next to the sending of the try that was refused", order)
            .isGreaterThanOrEqualTo(refusal.sentAtMs());
      }
    }
    NavigableMap<Long, Long> taken = takenBy(sale.orders());
    Map<Long, NavigableMap<Long, Long>> takenByUser =
        sale.orders().stream()
            .collect(
                groupingBy(
                    OrderHistoryRow::userId,
                    collectingAndThen(toList(), RefusalsAreTrue::takenBy)));
    purchases
        .refused()
        .forEach(
            (request, refusal) -> {
              if (request.skuId() == sale.skuId()) {
                long left =
                    switch (refusal.code()) {
                      case "SOLD_OUT", "TOO_FEW_LEFT" ->
                          sale.offer().stock() - taken(taken, refusal);
                      case "QUOTA_EXCEEDED" ->
                          sale.offer().limit() - taken(takenByUser.get(request.userId()), refusal);
                      default -> throw new AssertionError("no refusal is called " + refusal.code());
                    };
                assertThat(left)
                    .as("units left for %s when he was told %s", request, refusal.code())
                    .isLessThan(
                        refusal.code().equals("SOLD_OUT") ? 1 : purchases.quantityOf(request));
              }
            });
  }

  /** Maps each time of admission to the units taken by then, returned units not deducted. */
  private static NavigableMap<Long, Long> takenBy(List<OrderHistoryRow> orders) {
    NavigableMap<Long, Long> taken = new TreeMap<>();
    long units = 0;
    for (OrderHistoryRow order :
        orders.stream().sorted(comparingLong(OrderHistoryRow::admittedAtMs)).toList()) {
      units += order.quantity();
      taken.put(order.admittedAtMs(), units);
    }
    return taken;
  }

  private static long taken(@Nullable NavigableMap<Long, Long> taken, Refusal refusal) {
    Map.Entry<Long, Long> last = taken == null ? null : taken.floorEntry(refusal.answeredAtMs());
    return last == null ? 0 : last.getValue();
  }
}
