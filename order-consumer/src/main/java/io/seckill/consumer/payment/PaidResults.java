package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Writes the result of every paid order to Redis a second time, a moment later: the first write is
 * lost when the process dies after COMMIT, or Redis does not answer at that time. Results that
 * Redis has not acknowledged are written again, behind the others, so an outage delays them and
 * loses none. So are those of a sale that is being loaded at the end of a fallback, which may lack
 * them. Orders paid while no process ran for longer than a minute are left to reconciliation. The
 * sweep is for one thread.
 */
@Component
class PaidResults {

  private static final int PAGE = 1_000;

  /** Payments of the last seconds may commit in another order than that of their times. */
  private static final int SETTLING_SECONDS = 2;

  /** Some ten seconds of payments: those that are older were written again, or are read. */
  private static final int MOST_REMEMBERED = 50_000;

  /** Reads the index only. */
  private static final String NEXT =
      """
      SELECT order_id, CAST(updated_at AS CHAR) AS paid_at FROM payment FORCE INDEX (ix_payment_state)
      WHERE state = 'CHARGED' AND updated_at >= :from AND updated_at <= NOW(6) - INTERVAL :settling SECOND
      AND (updated_at > :from OR order_id > :order)
      ORDER BY updated_at, order_id LIMIT :page
      """;

  private static final String ORDERS =
      "SELECT order_id, sku_id, user_id FROM orders FORCE INDEX (PRIMARY)"
          + " WHERE order_id IN (:ids) AND status = 'PAID'";

  private static final String PHASES =
      "SELECT sku_id, sale_phase FROM products WHERE sku_id IN (:skus)";

  /**
   * A minute ago, when the last result is ahead of MySQL's clock: at first, or because that was set
   * back, as by the promotion of a standby.
   */
  private static final String BEGIN =
      "SELECT CAST(NOW(6) - INTERVAL 1 MINUTE AS CHAR) FROM DUAL"
          + " WHERE CAST(:last AS DATETIME(6)) > NOW(6) - INTERVAL :settling SECOND";

  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final JdbcClient jdbc;
  private final OrderResults results;

  /** Of orders that this process has made PAID, by id, until they are written again. */
  private final Map<Long, OrderResult> remembered =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, OrderResult> eldest) {
              return size() > MOST_REMEMBERED;
            }
          });

  private Paid last = Paid.AHEAD;

  /** Begin of the next results to write again; null if Redis lacks none. */
  private @Nullable Paid missed;

  /** Begin of the first results that it lacks of those written again before. */
  private @Nullable Paid missedAgain;

  PaidResults(JdbcClient jdbc, OrderResults results) {
    this.jdbc = jdbc;
    this.results = results;
  }

  /**
   * An order whose charge is stored.
   *
   * @param at by MySQL's clock, in MySQL's format
   */
  private record Paid(long orderId, String at) {

    static final Paid AHEAD = before("9999-12-31 00:00:00");

    static Paid before(String at) {
      return new Paid(0, at);
    }
  }

  /** The first write. Thread-safe. */
  void write(Collection<OrderResult> paid) {
    results.write(paid);
  }

  /** Spares the second write of an order that was paid just now the reading of it. Thread-safe. */
  void remember(OrderResult paid) {
    remembered.put(paid.orderId().value(), paid);
  }

  @Bean
  Sweeper paidResultsSweeper() {
    return new Sweeper("paid-results", PAUSE, this::sweep);
  }

  /** Writes the results of all orders paid since the last round, and then missed ones. */
  void sweep() {
    begin();
    List<Paid> page;
    do {
      Paid from = last;
      page = page(from);
      if (!write(page) && missed == null) {
        missed = from;
      }
      last = next(from, page);
    } while (page.size() == PAGE && !Thread.currentThread().isInterrupted());
    writeMissed();
  }

  /** All at once, but only a page a round while Redis lacks some still. */
  private void writeMissed() {
    Paid from = missed;
    boolean isPartial = false;
    while (from != null && !isPartial && !Thread.currentThread().isInterrupted()) {
      List<Paid> page = page(from);
      if (!write(page) && missedAgain == null) {
        missedAgain = from;
      }
      isPartial = missedAgain != null;
      if (page.size() == PAGE) {
        from = next(from, page);
      } else {
        from = missedAgain;
        missedAgain = null;
      }
      missed = from;
    }
  }

  private static Paid next(Paid from, List<Paid> page) {
    return page.isEmpty() ? from : page.get(page.size() - 1);
  }

  /** Returns false when Redis, which gets no orders that MySQL decides, may lack some results. */
  private boolean write(List<Paid> page) {
    List<OrderResult> paid = results(page);
    Map<Long, SalePhase> phases =
        phases(paid.stream().map(OrderResult::skuId).collect(Collectors.toSet()));
    List<OrderResult> ofRedis =
        paid.stream()
            .filter(result -> phases.getOrDefault(result.skuId(), SalePhase.STRONG).redisDecides())
            .toList();
    return results.write(ofRedis) && phases.values().stream().noneMatch(SalePhase::isBeingLoaded);
  }

  private List<OrderResult> results(List<Paid> page) {
    List<OrderResult> paid = new ArrayList<>();
    List<OrderId> others = new ArrayList<>();
    for (Paid each : page) {
      OrderResult result = remembered.remove(each.orderId());
      if (result == null) {
        others.add(new OrderId(each.orderId()));
      } else {
        paid.add(result);
      }
    }
    paid.addAll(stored(others));
    return paid;
  }

  private List<OrderResult> stored(List<OrderId> orders) {
    return orders.isEmpty()
        ? List.of()
        : jdbc.sql(ORDERS)
            .param("ids", Orders.ids(orders))
            .query(
                (row, n) ->
                    OrderResult.of(
                        new OrderId(row.getLong(1)),
                        row.getLong(2),
                        row.getLong(3),
                        OrderStatus.PAID))
            .list();
  }

  private Map<Long, SalePhase> phases(Set<Long> skus) {
    return skus.isEmpty()
        ? Map.of()
        : jdbc.sql(PHASES)
            .param("skus", skus)
            .query(Sql.map(row -> row.getLong(1), row -> SalePhase.valueOf(row.getString(2))));
  }

  private void begin() {
    last =
        jdbc.sql(BEGIN)
            .param("last", last.at())
            .param("settling", SETTLING_SECONDS)
            .query(String.class)
            .optional()
            .map(Paid::before)
            .orElse(last);
  }

  private List<Paid> page(Paid after) {
    return jdbc.sql(NEXT)
        .param("from", after.at())
        .param("order", after.orderId())
        .param("settling", SETTLING_SECONDS)
        .param("page", PAGE)
        .query((row, n) -> new Paid(row.getLong(1), row.getString(2)))
        .list();
  }
}
