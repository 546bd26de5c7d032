package io.seckill.consumer.lifecycle;

import io.seckill.common.order.OrderId;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Expires orders whose payment time is over, told by messages or found by looking. */
@Component
class Expiry {

  private static final Logger log = LoggerFactory.getLogger(Expiry.class);

  /** Answered by the index on (status, created_at): only orders that wait for payment are read. */
  private static final String DUE =
      "SELECT order_id FROM orders WHERE status = 'CONFIRMED'"
          + " AND created_at <= NOW(6) - INTERVAL ? MICROSECOND ORDER BY created_at LIMIT ?";

  private final JdbcClient jdbc;
  private final Releases releases;
  private final PaymentProperties properties;

  Expiry(JdbcClient jdbc, Releases releases, PaymentProperties properties) {
    this.jdbc = jdbc;
    this.releases = releases;
    this.properties = properties;
  }

  /** Expires those of these orders that are due. */
  void expire(List<OrderId> orders) {
    int batch = properties.sweepBatch();
    for (int from = 0; from < orders.size(); from += batch) {
      List<OrderId> some = orders.subList(from, Math.min(from + batch, orders.size()));
      int expired = releases.expire(some, properties.timeout());
      log.debug("{} of {} orders expired", expired, some.size());
    }
  }

  /** Expires all that are due. Two processes may do so at once: each order is released once. */
  void sweep() {
    List<OrderId> due;
    do {
      due = due();
      expire(due);
    } while (due.size() == properties.sweepBatch() && !Thread.currentThread().isInterrupted());
  }

  private List<OrderId> due() {
    return jdbc
        .sql(DUE)
        .params(properties.timeout().toMillis() * 1_000, properties.sweepBatch())
        .query(Long.class)
        .list()
        .stream()
        .map(OrderId::new)
        .toList();
  }
}
