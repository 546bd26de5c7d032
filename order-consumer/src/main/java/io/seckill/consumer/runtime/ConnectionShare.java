package io.seckill.consumer.runtime;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The part of a pool's connections that one kind of work, or the work of one partition, may hold,
 * so that it leaves the others to the rest. First come, first served. Thread-safe.
 */
public final class ConnectionShare {

  private final Semaphore free;
  private final Duration patience;

  /**
   * @param connections at least 1
   */
  public ConnectionShare(int connections) {
    this(connections, Duration.ofSeconds(1));
  }

  /**
   * @param connections at least 1
   * @param patience how long work waits for one that is free
   */
  public ConnectionShare(int connections, Duration patience) {
    this.free = new Semaphore(connections, true);
    this.patience = patience;
  }

  /**
   * Does work that needs one connection.
   *
   * @throws ProblemException 503 BUSY when all of the part stay in use: nothing was done
   */
  public <T> T within(Supplier<T> work) {
    return within(
        work,
        () -> {
          throw ProblemException.of(ProblemCode.BUSY, "Send the same request again.");
        });
  }

  /** As {@link #within(Supplier)}, with the result of {@code busy} when all stay in use. */
  public <T> T within(Supplier<T> work, Supplier<T> busy) {
    if (!isFree()) {
      return busy.get();
    }
    try {
      return work.get();
    } finally {
      free.release();
    }
  }

  private boolean isFree() {
    try {
      return free.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
