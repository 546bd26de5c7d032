package io.seckill.consumer.reconciliation;

import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The last check of a sale, by which the next one decides whether to compare it.
 *
 * @param moving the values that change while the sale is active
 * @param clean whether it was compared with these values, and another run would do nothing
 * @param comparedNanos the end of its last comparison, or when it was first seen, by
 *     System.nanoTime: operators and audits, which need the same lock, have the time between two
 */
record LastCheck(String moving, boolean clean, long comparedNanos) {

  /** In place of the last check of a sale that is seen for the first time. */
  static LastCheck first() {
    return new LastCheck("", false, System.nanoTime());
  }

  static String moving(ProductSnapshot sale, RedisSaleState seen) {
    return Stream.of(
            seen.seq(), seen.stock(), seen.state(), sale.settled(), sale.stock(), sale.state())
        .map(String::valueOf)
        .collect(Collectors.joining("/"));
  }

  /** {@code busyInterval} is the shortest time between two comparisons of a sale that moves. */
  boolean isDue(String movingNow, Duration busyInterval) {
    return moving.equals(movingNow)
        ? !clean
        : System.nanoTime() - comparedNanos >= busyInterval.toNanos();
  }

  /** This one after a check that did not compare the sale. */
  LastCheck with(String movingNow) {
    return new LastCheck(movingNow, moving.equals(movingNow), comparedNanos);
  }

  LastCheck notClean() {
    return new LastCheck(moving, false, comparedNanos);
  }
}
