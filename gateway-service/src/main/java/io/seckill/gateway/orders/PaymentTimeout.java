package io.seckill.gateway.orders;

import io.seckill.support.thread.DaemonThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * How long an order waits for its payment, from CONFIRMED to EXPIRED. order-consumer decides it and
 * writes it to MySQL; one thread reads it from there every few seconds; while MySQL does not
 * answer, the last value is used.
 */
@Component
final class PaymentTimeout implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(PaymentTimeout.class);
  private static final long EVERY_SECONDS = 5;

  private final JdbcClient mysql;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("payment-timeout"));
  private volatile @Nullable Duration latest;

  PaymentTimeout(JdbcClient mysql) {
    this.mysql = mysql;
    var unused = thread.scheduleWithFixedDelay(this::read, 0, EVERY_SECONDS, TimeUnit.SECONDS);
  }

  /** Empty until it has been read from MySQL. */
  Optional<Duration> latest() {
    return Optional.ofNullable(latest);
  }

  private void read() {
    try {
      mysql
          .sql("SELECT timeout_ms FROM payment_terms")
          .query(Long.class)
          .optional()
          .map(Duration::ofMillis)
          .ifPresent(this::learn);
    } catch (DataAccessException e) {
      log.debug("payment time-out cannot be read from mysql", e);
    } catch (RuntimeException e) { // an exception would end the schedule
      log.error("reading the payment time-out failed", e);
    }
  }

  private void learn(Duration timeout) {
    if (!timeout.equals(latest)) {
      log.info("payment time-out is {}", timeout);
      latest = timeout;
    }
  }

  @Override
  public void destroy() {
    thread.shutdownNow();
  }
}
