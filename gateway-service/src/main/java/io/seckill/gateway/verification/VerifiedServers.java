package io.seckill.gateway.verification;

import io.seckill.common.order.Partition;
import io.seckill.gateway.verification.RedisInspection.Observation;
import io.seckill.gateway.verification.RedisInspection.View;
import io.seckill.gateway.verification.StoredSales.Sale;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.Collectors;
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
  private final AtomicReferenceArray<@Nullable String> completeServers =
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
   * Whether an order of the partition that is on neither this server nor, read later, in MySQL was
   * never admitted.
   */
  public boolean provesAbsence(int partition, String replicationId) {
    return replicationId.equals(completeServers.get(partition))
        && replicationId.equals(replicationIds.get(partition));
  }

  /**
   * Called when the quarantines are in force. A server may lack orders while MySQL may not have
   * stored what was published before it took over, and while a sale is quarantined or loaded again.
   * One that is over is not loaded again, so that its quarantine says nothing once MySQL has these.
   */
  void compared(List<Sale> sales, View inRedis, Map<Integer, String> proven) {
    Set<Integer> lacking =
        sales.stream()
            .filter(sale -> isToBeLoaded(sale) || isLoadedAgain(sale, inRedis))
            .map(sale -> Partition.ofSku(sale.skuId()))
            .collect(Collectors.toSet());
    inRedis
        .servers()
        .forEach(
            (p, server) -> {
              boolean isProven = server.equals(proven.getOrDefault(p, server));
              completeServers.set(p, isProven && !lacking.contains(p) ? server : null);
            });
  }

  private boolean isToBeLoaded(Sale sale) {
    return isQuarantined(sale.skuId()) && !sale.isOver();
  }

  private static boolean isLoadedAgain(Sale sale, View inRedis) {
    Observation data = inRedis.sales().get(sale.skuId());
    return data != null && data.state().equals("PREHEATING") && sale.hasSold();
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
   * How many of {@link #quarantined} an operator can put back on sale, without those that are over.
   */
  public int quarantinedOnSale() {
    return quarantinedOnSale;
  }

  /** {@code onSale} of these sales are not over. */
  public void quarantine(Set<Long> skuIds, int onSale) {
    quarantined = Set.copyOf(skuIds);
    quarantinedOnSale = onSale;
  }

  public boolean allVerified() {
    return unverified().isEmpty();
  }

  /** The partitions that admit nothing. */
  public List<Integer> unverified() {
    return Partition.ALL.stream().filter(p -> replicationIds.get(p) == null).toList();
  }
}
