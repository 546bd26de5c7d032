package io.seckill.gateway.batching;

/**
 * One request in a {@link RequestBatcher}; answered exactly once, by its batch or by the timeout
 * monitor, whichever comes first.
 */
public abstract class PendingRequest {

  /** Why a request got no answer. */
  public enum Failure {
    /** Not carried out: the queue was full, it waited there too long, or the server was busy. */
    NOT_SENT,
    /** Sent, or about to be; it is not known whether the server carried it out. */
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
