package io.seckill.gateway.backends;

import static io.seckill.common.settings.SettingChecks.check;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.breaker.BreakerMeters;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Circuit breaker of one partition, or of all. Opens when, within a second, the share of calls that
 * fail and their number are both too high: a few errors at night do not open it, a burst does. When
 * its trial calls have succeeded, purchases are let through in a share that grows. Thread-safe.
 */
final class AdaptiveBreaker {

  /** As long as the second that the rate is about; the library counts by seconds of the clock. */
  private static final int WINDOW_S = 1;

  /** Higher than for failures: a busy machine makes calls slow, too. */
  private static final int SLOW_PERCENT = 80;

  /** Time without calls before the trial calls: short, because shoppers are refused meanwhile. */
  private static final Duration OPEN_FOR = Duration.ofMillis(400);

  private static final int TRIAL_CALLS = 3;

  /** Share of the purchases that is let through at first, in percent. */
  private static final int FIRST_PERCENT = 30;

  /** Time in which the share grows to all. */
  static final Duration GROWTH = Duration.ofSeconds(1);

  private static final Logger log = LoggerFactory.getLogger(AdaptiveBreaker.class);

  private final String name;
  private final Duration slowCall;
  private final MeterRegistry meters;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final AtomicLong asked = new AtomicLong();
  private volatile Thresholds thresholds;
  private volatile CircuitBreaker breaker;
  private volatile boolean growing;
  private volatile long leftAtNanos;
  private volatile long closedAtNanos;

  /**
   * When the breaker opens: both bounds must be reached within a second.
   *
   * @param failurePercent least share of calls that fail, 1..100
   * @param failuresPerSecond least number of calls that fail, 1..100000
   */
  record Thresholds(int failurePercent, int failuresPerSecond) {

    static final Thresholds DEFAULT = new Thresholds(50, 3);

    Thresholds {
      check(failurePercent >= 1 && failurePercent <= 100, "failurePercent must be 1..100");
      check(
          failuresPerSecond >= 1 && failuresPerSecond <= 100_000,
          "failuresPerSecond must be 1..100000");
    }

    /** So many calls that this share of them is this number. */
    private int leastCalls() {
      return (failuresPerSecond * 100 + failurePercent - 1) / failurePercent;
    }
  }

  /**
   * @param slowCall a call that takes as long counts as failed, though more of them are needed
   * @param clock whose seconds the library counts by
   * @param nanoTime System.nanoTime
   */
  AdaptiveBreaker(
      String name, Duration slowCall, MeterRegistry meters, Clock clock, LongSupplier nanoTime) {
    this.name = name;
    this.slowCall = slowCall;
    this.meters = meters;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.thresholds = Thresholds.DEFAULT;
    this.closedAtNanos = nanoTime.getAsLong();
    this.leftAtNanos = closedAtNanos;
    this.breaker = breaker(thresholds);
    BreakerMeters.bindState(name, () -> breaker, meters);
  }

  private CircuitBreaker breaker(Thresholds opensAt) {
    CircuitBreaker created =
        CircuitBreaker.of(
            name,
            CircuitBreakerConfig.custom()
                .slidingWindowType(SlidingWindowType.TIME_BASED)
                .slidingWindowSize(WINDOW_S)
                .minimumNumberOfCalls(opensAt.leastCalls())
                .failureRateThreshold(opensAt.failurePercent())
                .slowCallDurationThreshold(slowCall)
                .slowCallRateThreshold(SLOW_PERCENT)
                .waitDurationInOpenState(OPEN_FOR)
                .permittedNumberOfCallsInHalfOpenState(TRIAL_CALLS)
                .automaticTransitionFromOpenToHalfOpenEnabled(true)
                .ignoreExceptions(JedisDataException.class)
                .clock(clock)
                .build());
    BreakerMeters.countTransitions(created, meters);
    created
        .getEventPublisher()
        .onStateTransition(
            event -> {
              moved(event.getStateTransition().getToState());
              log.warn("breaker {}: {}", name, event.getStateTransition());
            });
    return created;
  }

  private void moved(State to) {
    if (to == State.CLOSED) {
      closedAtNanos = nanoTime.getAsLong();
      growing = true;
    } else if (to == State.OPEN && leftAtNanos - closedAtNanos <= 0) {
      leftAtNanos = nanoTime.getAsLong();
    }
  }

  /** Calls counted until now are forgotten; a breaker that is open is closed. */
  void opensAt(Thresholds wanted) {
    if (!wanted.equals(thresholds)) {
      thresholds = wanted;
      breaker = breaker(wanted);
      closedAtNanos = nanoTime.getAsLong();
    }
  }

  /**
   * @throws CallNotPermittedException when it is open: nothing was called
   */
  <T> T call(Supplier<T> work) {
    return breaker.executeSupplier(work);
  }

  /** Whether a call would be refused now. */
  boolean isOpen() {
    return breaker.getState() == State.OPEN;
  }

  boolean isClosed() {
    return breaker.getState() == State.CLOSED;
  }

  /** Whether a purchase may be sent: none while it is open, and then a share that grows. */
  boolean letsThrough() {
    if (isOpen()) {
      return false;
    }
    return !growing || isOfShare();
  }

  /** Spreads the purchases of the share evenly. */
  private boolean isOfShare() {
    long share = share();
    if (share >= 100) {
      growing = false;
      return true;
    }
    long number = asked.getAndIncrement();
    return (number + 1) * share / 100 > number * share / 100;
  }

  private long share() {
    long sinceNanos = nanoTime.getAsLong() - closedAtNanos;
    return FIRST_PERCENT + (100 - FIRST_PERCENT) * sinceNanos / GROWTH.toNanos();
  }

  /** CLOSED, OPEN, or HALF_OPEN, also while the share still grows. */
  State state() {
    State now = breaker.getState();
    return now == State.CLOSED && growing && share() < 100 ? State.HALF_OPEN : now;
  }

  /** How long it has been closed, or else not closed. */
  Duration since() {
    return Duration.ofNanos(nanoTime.getAsLong() - (isClosed() ? closedAtNanos : leftAtNanos));
  }

  /** Of the calls of the last second; 0 for too few calls. */
  int failurePercent() {
    int calls = breaker.getMetrics().getNumberOfBufferedCalls();
    return calls == 0 ? 0 : 100 * failures() / calls;
  }

  /** Of the last second; the present second of the clock may have just begun. */
  int failures() {
    return breaker.getMetrics().getNumberOfFailedCalls();
  }
}
