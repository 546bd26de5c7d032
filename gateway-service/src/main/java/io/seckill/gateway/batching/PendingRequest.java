package io.seckill.gateway.batching;

/**
 * One request in a {@link RequestBatcher}; answered exactly once, by its batch or by the timeout
 * monitor, whichever comes first.
 */
public abstract class PendingRequest {

  /** Why a request got no answer. */
  public enum Failure {
    /** Never sent: the queue was full, or the request waited there too long. */
    NOT_SENT,
    /** Sent, or about to be; what the server did is not known. */
    UNKNOWN
  }

  private final long bornNanos = System.nanoTime();

  /** System.nanoTime() when the request came in. */
  final long bornNanos() {
    return bornNanos;
  }

  /** The partition of Redis that it is for, 0..15; 0 where partitions do not matter. */
  protected int partition() {
    return 0;
  }

  /** Gives the answer for a request that got none; no effect on an answered one. */
  public abstract void fail(Failure failure);
}
