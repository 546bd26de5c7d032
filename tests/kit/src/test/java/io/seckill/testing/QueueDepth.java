package io.seckill.testing;

/**
 * Messages in one queue.
 *
 * @param ready waiting for a consumer
 * @param unacked delivered and not settled
 */
public record QueueDepth(long ready, long unacked) {

  static final QueueDepth EMPTY = new QueueDepth(0, 0);

  public long total() {
    return ready + unacked;
  }
}
