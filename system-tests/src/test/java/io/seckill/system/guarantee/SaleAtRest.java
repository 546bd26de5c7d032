package io.seckill.system.guarantee;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the stores hold about one SKU once traffic has ended and the queues have drained. Names in
 * brackets are those of the invariants in docs/architecture.md.
 *
 * @param skuId the SKU
 * @param initialStock opening stock + added - withdrawn (S)
 * @param limit units per user, or 0 for no limit (L)
 * @param mysqlStock sellable stock in MySQL (sd)
 * @param orders every stored order (M, X, R)
 * @param aliases order ids that stand for another stored order
 * @param mysqlQuota user to units in MySQL (ud)
 * @param redisStock admissible stock in Redis (sr)
 * @param redisQuota user to units in Redis (ur)
 * @param admitted order ids with an admission record in Redis (A)
 * @param outboxed orders left in the partition's outbox (O)
 * @param inPrivateQueues orders left in the partition's private queues (P)
 * @param requests {@code user:key} to the order id Redis keeps for it
 * @param givenBack order ids Redis has given back (Cs and Cq)
 * @param giveBacks order ids whose units MySQL owes or owed to Redis, to whether they are there
 * @param counters what the services counted on the way
 */
public record SaleAtRest(
    long skuId,
    long initialStock,
    int limit,
    long mysqlStock,
    List<StoredOrder> orders,
    Set<String> aliases,
    Map<Long, Long> mysqlQuota,
    long redisStock,
    Map<Long, Long> redisQuota,
    Set<String> admitted,
    long outboxed,
    long inPrivateQueues,
    Map<String, String> requests,
    Set<String> givenBack,
    Map<String, Boolean> giveBacks,
    SaleCounters counters) {

  /** Units of CONFIRMED and PAID orders: q(M). */
  public long ownedUnits() {
    return orders.stream().filter(StoredOrder::owns).mapToLong(StoredOrder::quantity).sum();
  }
}
