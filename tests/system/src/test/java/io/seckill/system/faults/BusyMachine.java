package io.seckill.system.faults;

import java.time.Duration;

/**
 * How far a row may miss what docs/proof.md promises for a machine with no other load: two cores
 * have six services and three servers to run.
 */
final class BusyMachine {

  /** It may take this multiple of a promised time. */
  private static final int SLOWER = 5;

  /** It may miss a promised share by this multiple of what the promise leaves out. */
  private static final int MISSES = 10;

  private BusyMachine() {}

  static boolean allows(Duration took, Duration promised) {
    return took.compareTo(promised.multipliedBy(SLOWER)) <= 0;
  }

  /**
   * A promise of 100 % is judged like one of 99 %: one purchase in a thousand may wait for a core.
   *
   * @param percent not a number when there was nothing to judge, which keeps no promise
   * @param promised in percent
   */
  static boolean allows(double percent, double promised) {
    return percent >= 100 - MISSES * Math.max(1, 100 - promised);
  }
}
