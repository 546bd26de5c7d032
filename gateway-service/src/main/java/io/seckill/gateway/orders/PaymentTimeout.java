package io.seckill.gateway.orders;

import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
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
  private static final Duration EVERY = Duration.ofSeconds(5);

  private final JdbcClient mysql;
  private final RepeatingTask reading;
  private volatile @Nullable Duration latest;

  PaymentTimeout(JdbcClient mysql) {
    this.mysql = mysql;
    this.reading = new RepeatingTask("payment-timeout", EVERY, this::read);
  }

  /** Empty until it has been read from MySQL. */
  Optional<Duration> latest() {
    return Optional.ofNullable(latest);
  }

  private void read() {
    mysql
        .sql("SELECT timeout_ms FROM payment_terms")
        .query(Long.class)
        .optional()
        .map(Duration::ofMillis)
        .ifPresent(this::learn);
  }

  private void learn(Duration timeout) {
    if (!timeout.equals(latest)) {
      log.info("payment time-out is {}", timeout);
      latest = timeout;
    }
  }

  @Override
  public void destroy() {
    reading.close();
  }
}
