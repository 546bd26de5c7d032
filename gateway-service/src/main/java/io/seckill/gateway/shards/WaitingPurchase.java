package io.seckill.gateway.shards;

/**
 * A purchase that its shard has refused because it has too few units.
 *
 * @param shardId the shard's id
 * @param quantity units, from 1
 * @param sinceNanos System.nanoTime() of its first refusal
 * @param waiter called once, by any thread
 */
public record WaitingPurchase(long shardId, int quantity, long sinceNanos, Waiter waiter) {

  /** How a wait ended. */
  public enum Outcome {
    /** The shard has units for it now; they may be gone when it arrives. */
    SEND_AGAIN,
    /** No unit was left in any shard. */
    SOLD_OUT,
    /** Fewer units were left than it needs. */
    TOO_FEW_LEFT,
    /** Not decided: too many wait, or it has waited for too long. */
    BUSY
  }

  /** Receives the outcome of a wait. */
  @FunctionalInterface
  public interface Waiter {

    /**
     * @param askedNanos System.nanoTime() before Redis was read for this outcome; for BUSY, now
     */
    void ended(Outcome outcome, long askedNanos);
  }
}
