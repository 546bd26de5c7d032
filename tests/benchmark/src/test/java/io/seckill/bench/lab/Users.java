package io.seckill.bench.lab;

import java.util.function.LongUnaryOperator;

/**
 * Users, each once.
 *
 * @param first lowest of their ids
 * @param count 1..2^31-1
 * @param order the id of each index, 0..count-1
 */
public record Users(long first, long count, LongUnaryOperator order) {

  /** A prime above any count, so that its multiples modulo the count are all different. */
  private static final long STEP = 2_654_435_761L;

  /**
   * Consecutive ids, in no order: shoppers do not arrive sorted, and rows in the order of their
   * keys are inserted faster.
   */
  public Users(long first, long count) {
    this(first, count, index -> first + index % count * (STEP % count) % count);
  }

  /**
   * @param index 0..count-1
   */
  public long id(long index) {
    return order.applyAsLong(index);
  }
}
