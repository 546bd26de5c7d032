package io.seckill.common.order;

import java.util.List;
import java.util.stream.IntStream;

/** Assigns SKUs to Redis hash tags: {@code skuId mod 16}. It never changes in an installation. */
public final class Partition {

  public static final int COUNT = 16;

  /** In ascending order. */
  public static final List<Integer> ALL = IntStream.range(0, COUNT).boxed().toList();

  private Partition() {}

  /**
   * @param skuId from 1
   * @return 0..15
   */
  public static int ofSku(long skuId) {
    return (int) (skuId % COUNT);
  }
}
