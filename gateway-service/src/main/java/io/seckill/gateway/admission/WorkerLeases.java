package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The worker lease of every partition. */
final class WorkerLeases implements OrderIds {

  private final List<WorkerLease> leases;

  /**
   * @param lease creates the lease of a partition
   */
  WorkerLeases(IntFunction<WorkerLease> lease) {
    this.leases = IntStream.range(0, Partition.COUNT).mapToObj(lease).toList();
  }

  @Override
  public @Nullable OrderId next(int partition) {
    return of(partition).next();
  }

  WorkerLease of(int partition) {
    return leases.get(partition);
  }

  /** Returns every number permanently. */
  void release() {
    leases.forEach(WorkerLease::release);
  }
}
