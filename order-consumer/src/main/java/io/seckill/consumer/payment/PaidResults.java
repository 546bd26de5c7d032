package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Writes the result of every paid order to Redis a second time, a moment later: the first write is
 * lost when the process dies after COMMIT, or Redis does not answer at that time. Results that
 * Redis has not acknowledged are written again, behind the others, so an outage delays them and
 * loses none. So are those of a sale that is being loaded at the end of a fallback, which may lack
 * them. Orders paid while no process ran for longer than a minute are left to reconciliation. For
 * one thread.
 */
@Component
class PaidResults {

  private static final int PAGE = 1_000;

  /** Payments of the last seconds may commit in another order than that of their times. */
  private static final int SETTLING_SECONDS = 2;

  private static final String NEXT =
      """
      SELECT p.order_id, o.sku_id, o.user_id, CAST(p.updated_at AS CHAR) AS paid_at, s.sale_phase
      FROM payment p JOIN orders o ON o.order_id = p.order_id AND o.status = 'PAID'
      JOIN products s ON s.sku_id = o.sku_id
      WHERE p.state = 'CHARGED' AND p.updated_at >= :from AND p.updated_at <= NOW(6) - INTERVAL :settling SECOND
      AND (p.updated_at > :from OR p.order_id > :order)
      ORDER BY p.updated_at, p.order_id LIMIT :page
      """;

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
   * A paid order.
   *
   * @param at by MySQL's clock, in MySQL's format
   * @param phase of its sale now; Redis does not get orders that MySQL decides
   */
  private record Paid(long orderId, long skuId, long userId, String at, SalePhase phase) {

    static final Paid AHEAD = before("9999-12-31 00:00:00");

    static Paid before(String at) {
      return new Paid(0, 0, 0, at, SalePhase.REDIS);
    }

    OrderResult result() {
      return OrderResult.of(new OrderId(orderId), skuId, userId, OrderStatus.PAID);
    }
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

  /** Returns false when Redis may lack some of these results. */
  private boolean write(List<Paid> page) {
    return results.write(results(page))
        && page.stream().noneMatch(paid -> paid.phase().isBeingLoaded());
  }

  private static List<OrderResult> results(List<Paid> page) {
    return page.stream().filter(paid -> paid.phase().redisDecides()).map(Paid::result).toList();
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
        .query(
            (row, n) ->
                new Paid(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getString(4),
                    SalePhase.valueOf(row.getString(5))))
        .list();
  }
}
