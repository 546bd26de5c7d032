package io.seckill.bench.lab;

/**
 * Users in no order of their ids, each once: shoppers do not arrive sorted, and rows in the order
 * of their keys are inserted faster.
 *
 * @param first lowest of their ids, which are consecutive
 * @param count 1..2^31-1
 */
public record Users(long first, long count) {

  /** A prime above any count, so that its multiples modulo the count are all different. */
  private static final long STEP = 2_654_435_761L;

  /**
   * @param index 0..count-1
   */
  public long id(long index) {
    return first + index % count * (STEP % count) % count;
  }
}
