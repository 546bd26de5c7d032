package io.seckill.consumer.runtime;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The part of a pool's connections that one kind of work may hold, so that it leaves the others to
 * the rest. Thread-safe.
 */
public final class ConnectionShare {

  private static final long PATIENCE_MS = 1_000;

  private final Semaphore free;

  /** There is at least one connection. */
  public ConnectionShare(int connections) {
    this.free = new Semaphore(connections, true);
  }

  /**
   * Does work that needs one connection.
   *
   * @throws ProblemException 503 BUSY when all of the part are held for a second: nothing was done
   */
  public <T> T within(Supplier<T> work) {
    if (!isFree()) {
      throw ProblemException.of(ProblemCode.BUSY, "Send the same request again.");
    }
    try {
      return work.get();
    } finally {
      free.release();
    }
  }

  private boolean isFree() {
    try {
      return free.tryAcquire(PATIENCE_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
