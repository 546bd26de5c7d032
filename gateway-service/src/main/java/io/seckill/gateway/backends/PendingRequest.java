package io.seckill.gateway.backends;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One request in a {@link RequestBatcher}; answered exactly once, by its batch or by the timeout
 * monitor, whichever comes first.
 */
public abstract class PendingRequest {

  /** Why a request got no answer from Redis. */
  public enum Failure {
    /** Never sent: the queue was full, or the request waited there too long. */
    NOT_SENT,
    /** Sent, or about to be; what Redis did is not known. */
    UNKNOWN
  }

  private final AtomicBoolean settled = new AtomicBoolean();
  private final long bornNanos = System.nanoTime();

  /** System.nanoTime() when the request came in. */
  protected final long bornNanos() {
    return bornNanos;
  }

  /** Returns true for the first caller only, which then gives the answer. */
  protected final boolean settle() {
    return settled.compareAndSet(false, true);
  }

  /** Gives the answer for a request that Redis did not answer; no effect on an answered one. */
  public abstract void fail(Failure failure);
}
