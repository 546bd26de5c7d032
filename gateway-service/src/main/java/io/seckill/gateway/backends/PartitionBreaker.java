package io.seckill.gateway.backends;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.seckill.gateway.backends.CallWindow.Counts;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The breaker of one partition, or of all partitions on one server. The library keeps the state and
 * judges the trial calls. When to open is decided here: the library's windows are whole seconds of
 * the time of day, and it has a share of failures, but no rate.
 */
final class PartitionBreaker {

  private final CircuitBreaker breaker;
  private final CallWindow window;

  /** Those calls of {@link #window} that write: reads of a server that refuses writes succeed. */
  private final CallWindow writes;

  private final Predicate<Counts> opens;
  private final LongSupplier nanoTime;

  private volatile boolean refuses;

  /**
   * @param opens whether the breaker opens after a call that failed or was slow, given the calls of
   *     this breaker, or those that write
   */
  PartitionBreaker(
      String name, CircuitBreakerConfig config, Predicate<Counts> opens, LongSupplier nanoTime) {
    this.breaker = CircuitBreaker.of(name, config);
    this.window = new CallWindow(nanoTime);
    this.writes = new CallWindow(nanoTime);
    this.opens = opens;
    this.nanoTime = nanoTime;
    breaker
        .getEventPublisher()
        .onStateTransition(
            event -> {
              if (event.getStateTransition().getToState() == State.CLOSED) {
                window.clear(); // these calls must not count against the server a second time
                writes.clear();
              }
            });
  }

  CircuitBreaker breaker() {
    return breaker;
  }

  State state() {
    return breaker.getState();
  }

  /** Whether Redis may decide: also after reads have closed the breaker, writes may be refused. */
  boolean isUsableAgain() {
    return state() == State.CLOSED && !refuses;
  }

  /** Whether the server replied that it cannot decide, and no write has succeeded since. */
  boolean refuses() {
    return refuses;
  }

  Counts counts() {
    return window.counts();
  }

  /**
   * Makes the call unless the breaker is open.
   *
   * @param writes whether Redis refuses it when it cannot decide purchases
   * @throws CallNotPermittedException when it is open
   */
  <T> T call(Supplier<T> work, boolean writes) {
    try {
      return breaker.executeSupplier(() -> measured(work, writes));
    } catch (Error e) { // the library would count its trial call as under way for good
      breaker.releasePermission();
      throw e;
    }
  }

  /** A reply that the command is wrong counts neither as a failure nor as a success. */
  private <T> T measured(Supplier<T> work, boolean isWrite) {
    long start = nanoTime.getAsLong();
    try {
      T answer = work.get();
      if (isWrite) {
        refuses = false;
      }
      ended(start, false, isWrite);
      return answer;
    } catch (RuntimeException e) {
      if (!ErrorReply.isOfCommand(e)) {
        if (ErrorReply.isOfServer(e)) {
          refuses = true;
        }
        ended(start, true, isWrite);
      }
      throw e;
    }
  }

  private void ended(long startNanos, boolean failed, boolean isWrite) {
    Duration took = Duration.ofNanos(nanoTime.getAsLong() - startNanos);
    Duration slowFrom = breaker.getCircuitBreakerConfig().getSlowCallDurationThreshold();
    window.add(failed, took, slowFrom);
    if (isWrite) {
      writes.add(failed, Duration.ZERO, slowFrom); // slow calls are counted with the reads
    }
    if ((failed || took.compareTo(slowFrom) >= 0)
        && (opens.test(window.counts()) || opens.test(writes.counts()))) {
      open();
    }
  }

  /** Only this leaves CLOSED, so under the lock no trial calls can be interrupted. */
  private synchronized void open() {
    if (state() == State.CLOSED) {
      breaker.transitionToOpenState();
    }
  }
}
