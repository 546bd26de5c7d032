package io.seckill.consumer.intake;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.common.breaker.Breakers;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.DatabaseWriteProbe;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoredBatch;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Stores orders for the intake through a circuit breaker. While the breaker is open, no orders are
 * taken from the broker, so none are held, requeued or retried in a loop; one probe per second
 * finds out when MySQL accepts writes again. Probes of idle queues find out that it does not.
 * Shared by all queues, thread-safe.
 */
@Component
class DatabaseGate {

  private static final Logger log = LoggerFactory.getLogger(DatabaseGate.class);

  /** A recovery of MySQL is detected after this and the probe's own time-out, at the latest. */
  private static final Duration PROBE_PAUSE = Duration.ofSeconds(1);

  private final OrderStore store;
  private final DatabaseWriteProbe probe;
  private final Clock clock;
  private final CircuitBreaker breaker;
  private final Timer lag;
  private final Counter deliveries;

  DatabaseGate(OrderStore store, DatabaseWriteProbe probe, Clock clock, MeterRegistry meters) {
    this.store = store;
    this.clock = clock;
    this.breaker = CircuitBreaker.of("mysql", config());
    this.probe = probe;
    this.lag =
        Timer.builder("seckill.consumer.lag")
            .description("From admission in Redis to COMMIT in MySQL")
            .serviceLevelObjectives(
                Duration.ofMillis(50),
                Duration.ofMillis(200),
                Duration.ofSeconds(1),
                Duration.ofSeconds(5),
                Duration.ofSeconds(30))
            .register(meters);
    this.deliveries =
        Counter.builder("seckill.consumer.deliveries")
            .description("Orders handed to MySQL, whatever came of it")
            .register(meters);
    Breakers.bind(breaker, meters);
    breaker
        .getEventPublisher()
        .onStateTransition(event -> log.warn("MySQL breaker: {}", event.getStateTransition()));
  }

  /** A refused order is not a failure of MySQL. */
  static CircuitBreakerConfig config() {
    return Breakers.ofLastCalls(4, 2, PROBE_PAUSE, 1)
        .slowCallRateThreshold(100)
        .slowCallDurationThreshold(Duration.ofMinutes(1))
        .build();
  }

  /**
   * As {@link OrderStore#store}, and reports success or failure to the breaker.
   *
   * @throws DatabaseUnavailableException when MySQL cannot decide now; check {@link
   *     #isOpenToOrders} before trying again
   */
  StoredBatch store(List<OrderMessage> orders) throws DatabaseUnavailableException {
    long start = System.nanoTime();
    deliveries.increment(orders.size());
    try {
      StoredBatch stored = store.store(orders);
      breaker.onSuccess(System.nanoTime() - start, TimeUnit.NANOSECONDS);
      closeAfterSuccess();
      recordLag(stored);
      return stored;
    } catch (DatabaseUnavailableException e) {
      log.warn("{}", e.getMessage());
      breaker.onError(System.nanoTime() - start, TimeUnit.NANOSECONDS, e);
      throw e;
    }
  }

  /**
   * A success may be the second call, the minimum that the breaker evaluates; after one failure the
   * breaker then opens although MySQL is available.
   */
  private void closeAfterSuccess() {
    if (breaker.getState() != CircuitBreaker.State.CLOSED) {
      breaker.transitionToClosedState();
    }
  }

  /** Uses two clocks, Redis's and ours, so a negative difference is recorded as 0. */
  private void recordLag(StoredBatch stored) {
    long now = clock.millis();
    for (StoreOutcome outcome : stored.outcomes()) {
      if (outcome instanceof Stored confirmed) {
        lag.record(Math.max(0, now - confirmed.order().admittedAt()), TimeUnit.MILLISECONDS);
      }
    }
  }

  /** Returns true at once while the breaker is closed, else what {@link #probe} returns. */
  boolean isOpenToOrders() {
    return breaker.getState() == CircuitBreaker.State.CLOSED || probe();
  }

  /**
   * Probes MySQL: while the breaker is closed as patiently as a batch is stored, so that a slow
   * MySQL does not open it, and else at most once a second over all callers. The breaker permits
   * another probe only after a result, so every result is reported to it, an unexpected exception
   * included.
   *
   * @return whether the breaker is closed afterwards
   */
  boolean probe() {
    if (!breaker.tryAcquirePermission()) {
      return false;
    }
    long start = System.nanoTime();
    try {
      probe.write(breaker.getState() == CircuitBreaker.State.CLOSED);
      breaker.onSuccess(System.nanoTime() - start, TimeUnit.NANOSECONDS);
      closeAfterSuccess();
    } catch (SQLException e) {
      breaker.onError(System.nanoTime() - start, TimeUnit.NANOSECONDS, e);
      log.info("MySQL is not writable: {}", e.getMessage());
    } catch (RuntimeException | Error e) {
      breaker.onError(System.nanoTime() - start, TimeUnit.NANOSECONDS, e);
      throw e;
    }
    return breaker.getState() == CircuitBreaker.State.CLOSED;
  }
}
