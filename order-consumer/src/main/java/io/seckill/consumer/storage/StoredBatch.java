package io.seckill.consumer.storage;

import io.seckill.consumer.orders.Compensation;
import io.seckill.consumer.orders.SkuProgress;
import java.util.List;
import java.util.stream.Stream;

/**
 * A batch after its COMMIT.
 *
 * @param outcomes one for each order handed in, in no particular order
 * @param compensations units to return to Redis: those of this batch and pending ones of known
 *     orders
 * @param progress of the SKUs whose orders this batch settled
 */
public record StoredBatch(
    List<StoreOutcome> outcomes, List<Compensation> compensations, List<SkuProgress> progress) {

  public static final StoredBatch EMPTY = new StoredBatch(List.of(), List.of(), List.of());

  static StoredBatch of(StoreOutcome only) {
    return new StoredBatch(List.of(only), List.of(), List.of());
  }

  /** Joins both; the progress of the later one comes last. */
  StoredBatch and(StoredBatch later) {
    return new StoredBatch(
        joined(outcomes, later.outcomes),
        joined(compensations, later.compensations),
        joined(progress, later.progress));
  }

  private static <T> List<T> joined(List<T> first, List<T> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }
}
