package io.seckill.gateway.admission;

import io.seckill.common.order.Partition;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Whose data may be sold from. Per partition the replication id of the Redis server whose data was
 * compared with MySQL: it changes with every restart and every promotion. The scripts compare it
 * with their own server's before anything else, so no purchase is ever decided on data that was not
 * verified, without any window.
 */
final class VerifiedServers {

  private final AtomicReferenceArray<@Nullable String> replicationIds =
      new AtomicReferenceArray<>(Partition.COUNT);
  private volatile Set<Long> held = Set.of();
  private volatile int heldOnSale;

  /** Null while admission of the partition is held. */
  @Nullable String replicationId(int partition) {
    return replicationIds.get(partition);
  }

  /** A script met another server than {@code expected}; holds the partition. */
  void otherServer(int partition, String expected) {
    replicationIds.compareAndSet(partition, expected, null);
  }

  void verified(int partition, String replicationId) {
    replicationIds.set(partition, replicationId);
  }

  /** Whether MySQL knows more of the SKU than Redis: closed until it is rebuilt. */
  boolean isHeld(long skuId) {
    Set<Long> now = held;
    return !now.isEmpty() && now.contains(skuId);
  }

  Set<Long> held() {
    return held;
  }

  /** How many of {@link #held} an operator can bring back; a closed sale stays as it is. */
  int heldOnSale() {
    return heldOnSale;
  }

  /**
   * @param onSale how many of them are not closed
   */
  void hold(Set<Long> skuIds, int onSale) {
    held = Set.copyOf(skuIds);
    heldOnSale = onSale;
  }

  boolean allVerified() {
    for (int p = 0; p < Partition.COUNT; p++) {
      if (replicationIds.get(p) == null) {
        return false;
      }
    }
    return true;
  }
}
