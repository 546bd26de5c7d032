package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Cancellations;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Expires orders whose payment time-out is over. */
@Component
class Expiry {

  private static final Logger log = LoggerFactory.getLogger(Expiry.class);

  /** Answered by the index on (status, created_at): only orders that wait for payment are read. */
  private static final String DUE =
      "SELECT order_id, CAST(created_at AS CHAR) AS created FROM orders"
          + " WHERE status = 'CONFIRMED' AND created_at >= :created"
          + " AND created_at <= NOW(6) - INTERVAL :micros MICROSECOND"
          + " AND (created_at > :created OR order_id > :id)"
          + " ORDER BY created_at, order_id LIMIT :batch";

  /** Most orders expired in one transaction; bounds the time for which its locks are held. */
  private static final int BATCH = 200;

  private static final int FROM_THE_OLDEST = 10; // every this many rounds

  /** Units of orders that were not paid can be bought again this soon. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final JdbcClient jdbc;
  private final Cancellations cancellations;
  private final PaymentProperties properties;
  private final Pace pace;
  private int rounds;
  private Waiting last = Waiting.FIRST;

  Expiry(JdbcClient jdbc, Cancellations cancellations, PaymentProperties properties, Pace pace) {
    this.jdbc = jdbc;
    this.cancellations = cancellations;
    this.properties = properties;
    this.pace = pace;
  }

  /** An order that waits for payment, and when it was stored, in MySQL's format. */
  private record Waiting(OrderId orderId, String created) {

    static final Waiting FIRST = new Waiting(new OrderId(1), "1970-01-02 00:00:00");
  }

  /** Expires those of these orders that are due; logs an error for each due one that cannot. */
  void expire(List<OrderId> orders) {
    try {
      int expired = cancellations.expire(orders, properties.timeout());
      log.debug("{} of {} orders expired", expired, orders.size());
    } catch (IllegalStateException | DataAccessException e) {
      throwUnlessOdd(e);
      orders.forEach(this::expireAlone);
    }
  }

  private void expireAlone(OrderId order) {
    try {
      cancellations.expire(List.of(order), properties.timeout());
    } catch (IllegalStateException | DataAccessException e) {
      throwUnlessOdd(e);
      log.error("Order {} is due and cannot expire: {}", order, e.toString());
    }
  }

  /** Returns only when MySQL refused the work on an order, not when MySQL is unavailable. */
  private static void throwUnlessOdd(RuntimeException e) {
    if (e instanceof DataAccessException && !SqlFailure.of(e).isRefusal()) {
      throw e;
    }
  }

  @Bean
  Sweeper expirySweeper() {
    return new Sweeper("expiry-sweep", PAUSE, this::round);
  }

  /**
   * Expires orders that are due, for the sweeper's thread alone. Two processes may do so at once:
   * each order's units are returned once. Orders that cannot expire are skipped, so that they never
   * block the others. Continues where the last round ended: the index may still have entries of all
   * orders that expired before, while a long transaction reads. Each tenth round, from the first
   * one on, begins at the oldest order, for those that were locked or committed late.
   */
  void round() {
    boolean fromTheOldest = rounds++ % FROM_THE_OLDEST == 0;
    last = sweepAfter(fromTheOldest ? Waiting.FIRST : last);
  }

  /** Returns the last order that was due, or the given one when none was. */
  private Waiting sweepAfter(Waiting given) {
    Waiting after = given;
    List<Waiting> due;
    do {
      Waiting from = after;
      due = pace.step(() -> expireAfter(from));
      after = due.isEmpty() ? after : due.get(due.size() - 1);
    } while (due.size() == BATCH && !Thread.currentThread().isInterrupted());
    return after;
  }

  private List<Waiting> expireAfter(Waiting from) {
    List<Waiting> due = dueAfter(from);
    expire(due.stream().map(Waiting::orderId).toList());
    return due;
  }

  private List<Waiting> dueAfter(Waiting from) {
    return jdbc.sql(DUE)
        .param("created", from.created())
        .param("id", from.orderId().value())
        .param("micros", properties.timeout().toMillis() * 1_000)
        .param("batch", BATCH)
        .query(
            (row, number) ->
                new Waiting(new OrderId(row.getLong("order_id")), row.getString("created")))
        .list();
  }
}
