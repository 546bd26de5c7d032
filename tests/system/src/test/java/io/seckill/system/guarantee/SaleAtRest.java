package io.seckill.system.guarantee;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * What the stores hold about one SKU once traffic has ended and the queues have drained. Names in
 * brackets are those of the invariants in docs/architecture.md.
 *
 * @param offer what the test put on sale (S, L)
 * @param mysqlStock sellable stock in MySQL (sd)
 * @param orders every stored order (M, X, R)
 * @param aliases order ids that stand for another stored order of this SKU
 * @param charges order id to the cents the simulated provider holds for it
 * @param mysqlQuota user to units in MySQL (ud)
 * @param redisStock admissible stock in Redis (sr)
 * @param redisQuota user to units in Redis (ur)
 * @param admitted order ids with an admission record in Redis (A)
 * @param outboxed orders left in the partition's outbox (O)
 * @param inPrivateQueues orders left in the partition's private queues, registered or not (P)
 * @param requests {@code user:key} to the order id Redis keeps for it
 * @param compensated order ids that Redis has compensated (Cs and Cq)
 * @param compensations order ids in MySQL's compensation table, to whether Redis has confirmed them
 * @param traces what Redis has of a strong sale: keys, and entries of keys that sales share; empty
 *     for other sales, whose data are above
 * @param repairs repairs that reconciliations have made
 * @param counters counters of the services
 */
public record SaleAtRest(
    SaleOffer offer,
    long mysqlStock,
    List<OrderHistoryRow> orders,
    Set<String> aliases,
    Map<String, Long> charges,
    Map<Long, Long> mysqlQuota,
    long redisStock,
    Map<Long, Long> redisQuota,
    Set<String> admitted,
    long outboxed,
    long inPrivateQueues,
    Map<String, String> requests,
    Set<String> compensated,
    Map<String, Boolean> compensations,
    Set<String> traces,
    List<Repaired> repairs,
    SaleCounters counters) {

  /**
   * A SKU with all that its shards have.
   *
   * @param pool units of no shard
   */
  public static SaleAtRest together(SaleOffer offer, long pool, List<SaleAtRest> shards) {
    return new SaleAtRest(
        offer,
        pool + shards.stream().mapToLong(SaleAtRest::mysqlStock).sum(),
        shards.stream().flatMap(shard -> shard.orders.stream()).toList(),
        set(shards, SaleAtRest::aliases),
        map(shards, SaleAtRest::charges, Long::sum),
        map(shards, SaleAtRest::mysqlQuota, Long::sum),
        pool + shards.stream().mapToLong(SaleAtRest::redisStock).sum(),
        map(shards, SaleAtRest::redisQuota, Long::sum),
        set(shards, SaleAtRest::admitted),
        shards.stream().mapToLong(SaleAtRest::outboxed).sum(),
        shards.stream().mapToLong(SaleAtRest::inPrivateQueues).sum(),
        map(shards, SaleAtRest::requests, (one, other) -> one + " and " + other),
        set(shards, SaleAtRest::compensated),
        map(shards, SaleAtRest::compensations, (one, other) -> one && other),
        set(shards, SaleAtRest::traces),
        shards.stream().flatMap(shard -> shard.repairs.stream()).toList(),
        shards.stream().map(SaleAtRest::counters).reduce(SaleCounters::plus).orElseThrow());
  }

  private static <T> Set<T> set(List<SaleAtRest> shards, Function<SaleAtRest, Collection<T>> part) {
    return shards.stream().flatMap(shard -> part.apply(shard).stream()).collect(toSet());
  }

  private static <K, V> Map<K, V> map(
      List<SaleAtRest> shards, Function<SaleAtRest, Map<K, V>> part, BinaryOperator<V> both) {
    return shards.stream()
        .flatMap(shard -> part.apply(shard).entrySet().stream())
        .collect(toMap(Map.Entry::getKey, Map.Entry::getValue, both));
  }

  public long skuId() {
    return offer.skuId();
  }

  /** Units of CONFIRMED and PAID orders: q(M). */
  public long ownedUnits() {
    return orders.stream().filter(OrderHistoryRow::owns).mapToLong(OrderHistoryRow::quantity).sum();
  }
}
