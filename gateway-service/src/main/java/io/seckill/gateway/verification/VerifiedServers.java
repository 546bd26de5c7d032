package io.seckill.gateway.verification;

import io.seckill.common.order.Partition;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Redis servers whose data may be sold from. Keeps per partition the replication id of the server
 * whose data was compared with MySQL; the id changes with every restart and every promotion. Each
 * script first compares it with the id of its own server, so no purchase is ever decided on
 * unverified data, not even for a moment.
 */
public final class VerifiedServers {

  private final AtomicReferenceArray<@Nullable String> replicationIds =
      new AtomicReferenceArray<>(Partition.COUNT);
  private volatile Set<Long> quarantined = Set.of();
  private volatile int quarantinedOnSale;

  /** Null while the partition is not verified; it then admits nothing. */
  public @Nullable String replicationId(int partition) {
    return replicationIds.get(partition);
  }

  /** A script reached another server than {@code expected}; the partition is no longer verified. */
  public void otherServer(int partition, String expected) {
    replicationIds.compareAndSet(partition, expected, null);
  }

  /** The partition's present server may lose orders; nothing is admitted on it. */
  void refused(int partition) {
    replicationIds.set(partition, null);
  }

  public void verified(int partition, String replicationId) {
    replicationIds.set(partition, replicationId);
  }

  /**
   * Whether the SKU is quarantined: MySQL has newer data of it than Redis, so it admits nothing
   * until it is rebuilt.
   */
  public boolean isQuarantined(long skuId) {
    Set<Long> now = quarantined;
    return !now.isEmpty() && now.contains(skuId);
  }

  public Set<Long> quarantined() {
    return quarantined;
  }

  /**
   * How many of {@link #quarantined} an operator can put back on sale; a closed sale stays closed.
   */
  int quarantinedOnSale() {
    return quarantinedOnSale;
  }

  /** {@code onSale} of these sales are not closed. */
  public void quarantine(Set<Long> skuIds, int onSale) {
    quarantined = Set.copyOf(skuIds);
    quarantinedOnSale = onSale;
  }

  public boolean allVerified() {
    return IntStream.range(0, Partition.COUNT).noneMatch(p -> replicationIds.get(p) == null);
  }
}
