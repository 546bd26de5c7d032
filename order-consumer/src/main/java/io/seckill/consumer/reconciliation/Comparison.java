package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.loading.DatabasePart;
import io.seckill.consumer.loading.StoredChange;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.reconciliation.RedisSale.Late;
import io.seckill.consumer.reconciliation.RedisSale.WrongQuota;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Computes the data that Redis should hold from a snapshot of MySQL. MySQL is read first, so an
 * order that is not in it is in flight or lost; in both cases its units are taken. With {@code sd}
 * and {@code ud} as MySQL's stock and quota, Redis should have
 *
 * <pre>
 * stock    = sd − units in flight − units of compensations not applied yet + changes under way in Redis alone
 * quota(u) = ud(u) + u's units in flight + units of u's compensations not applied yet
 * </pre>
 *
 * <p>where a compensation that Redis knew before this snapshot of MySQL, or a change under way in
 * MySQL alone, counts with the opposite sign. A change that has ended is in both stores, or in
 * neither; where Redis differs, it has lost data. Redis's counters should hold the orders that
 * MySQL had stored, or settled, and those in flight. Nothing here depends on when an order is
 * stored in between: its units move from one item to another. Fed bucket by bucket; the totals are
 * complete at the end. Of a kind of finding at most {@value #MOST_FINDINGS} are kept until {@link
 * #forget}. For one thread.
 */
final class Comparison {

  static final int MOST_FINDINGS = 10_000;

  /** The process that decided a younger result is still writing it to Redis. */
  private static final long NOTIFYING_MS = 2_000;

  /** A compensation that its process could not deliver is delivered by the sweep within this. */
  private static final long SWEEPING_MS = 10_000;

  private final ProductSnapshot sale;
  private final RedisSaleState seen;
  private final long databaseNow;
  private final UnknownOrders unknown = new UnknownOrders();
  private final List<OrderResult> results = new ArrayList<>();
  private final Map<OrderId, AdmissionRecord> unrecorded = new HashMap<>();
  private final List<WrongQuota> quotas = new ArrayList<>();
  private final List<OrderId> undelivered = new ArrayList<>();
  private long stock;
  private long orders;
  private long units;
  private long unsettled;
  private boolean isPartial;

  /**
   * @param databaseNow MySQL's clock, Unix ms
   * @param decided all orders on which MySQL has decided, aliases included
   * @param changesInMySql stock changes of this epoch, by id
   * @param changesInRedis those that Redis's stock contains, with their units
   */
  Comparison(
      ProductSnapshot sale,
      RedisSaleState seen,
      long databaseNow,
      OrderTotals decided,
      Map<String, StoredChange> changesInMySql,
      Map<String, Long> changesInRedis) {
    this.sale = sale;
    this.seen = seen;
    this.databaseNow = databaseNow;
    this.orders = decided.orders();
    this.units = decided.units();
    this.stock = sale.stock() + changesUnderWay(changesInMySql, changesInRedis);
  }

  /**
   * Units by which Redis's stock is ahead of MySQL's. A change that MySQL did not know yet is under
   * way.
   */
  private static long changesUnderWay(
      Map<String, StoredChange> inMySql, Map<String, Long> inRedis) {
    long ahead =
        inRedis.entrySet().stream()
            .filter(change -> isUnderWay(inMySql.get(change.getKey())))
            .mapToLong(Map.Entry::getValue)
            .sum();
    long behind =
        inMySql.values().stream()
            .filter(change -> isUnderWay(change) && change.counted())
            .mapToLong(StoredChange::delta)
            .sum();
    return ahead - behind;
  }

  private static boolean isUnderWay(@Nullable StoredChange change) {
    return change == null || !change.ended();
  }

  void add(DatabasePart database, RedisPart redis) {
    Map<OrderId, AdmissionRecord> stored = new HashMap<>(database.aliases());
    stored.putAll(database.orders());
    Map<Long, Long> wanted = new HashMap<>(database.quotas());
    redis.records().forEach((id, order) -> compare(id, order, stored.get(id), wanted));
    stored.forEach((id, order) -> findUnrecorded(id, order, redis));
    countCompensations(database, redis, wanted);
    if (sale.policy().keepsQuota()) {
      compareQuotas(wanted, database, redis);
    }
  }

  private void compare(
      OrderId id, AdmissionRecord order, @Nullable AdmissionRecord stored, Map<Long, Long> wanted) {
    if (stored == null) {
      wanted.merge(order.userId(), (long) order.quantity(), Long::sum);
      if (order.seq() <= seen.seq()) { // the next comparison finds the others if they are lost
        unknown.add(id, order);
        stock -= order.quantity();
        unsettled++;
        orders++;
        units += order.quantity();
      }
    } else if (stored.status().replaces(order.status())
        && isOver(stored.changedAt(), NOTIFYING_MS)) {
      keep(results, OrderResult.of(id, sale.skuId(), stored));
    }
  }

  private <T> void keep(List<T> findings, T finding) {
    if (findings.size() < MOST_FINDINGS) {
      findings.add(finding);
    } else {
      isPartial = true;
    }
  }

  /** Whether this was so long ago; a time to come is from before MySQL's clock was set back. */
  private boolean isOver(long since, long ms) {
    return since <= databaseNow - ms || since > databaseNow;
  }

  /** Redis forgets orders that have ended, and need not have known them. */
  private void findUnrecorded(OrderId id, AdmissionRecord order, RedisPart redis) {
    if (order.status().hasEnded() || !redis.lacks(id, order)) {
      return;
    }
    if (unrecorded.size() < MOST_FINDINGS) {
      unrecorded.put(id, order);
    } else {
      isPartial = true;
    }
  }

  /**
   * An order without a record is one whose units Redis has returned, or never took; compensate.lua
   * returns none for it.
   */
  private void countCompensations(DatabasePart database, RedisPart redis, Map<Long, Long> wanted) {
    database
        .compensations()
        .forEach(
            (id, pending) -> {
              if (!redis.compensated().containsKey(id) && redis.records().containsKey(id)) {
                stock -= pending.stock();
                wanted.merge(pending.userId(), pending.quota(), Long::sum);
                if (isOver(pending.endedAt(), SWEEPING_MS)) {
                  keep(undelivered, id);
                }
              }
            });
    redis
        .compensated()
        .forEach(
            (id, units) -> {
              AdmissionRecord order = redis.records().get(id);
              if (!database.compensations().containsKey(id) && order != null) {
                stock += units.stock();
                wanted.merge(order.userId(), -units.quota(), Long::sum);
              }
            });
  }

  private void compareQuotas(Map<Long, Long> wanted, DatabasePart database, RedisPart redis) {
    Set<Long> users = new HashSet<>(wanted.keySet());
    users.addAll(redis.quotas().keySet());
    for (Long user : users) {
      String found = redis.quotas().getOrDefault(user, "");
      long should = Math.max(0, wanted.getOrDefault(user, 0L));
      if (!(found.isEmpty() ? "0" : found).equals(Long.toString(should))) {
        long stored = database.quotas().getOrDefault(user, 0L);
        keep(quotas, new WrongQuota(user, found, should, stored));
      }
    }
  }

  /**
   * Says that Redis lacks more orders, or quotas, of MySQL than are compared. Stock and totals do
   * not depend on these, nor do the quotas of other users.
   */
  void leavesOut() {
    isPartial = true;
  }

  /** Forgets the findings of the buckets so far, which have been repaired; the totals stay. */
  void forget() {
    results.clear();
    unrecorded.clear();
    quotas.clear();
    undelivered.clear();
  }

  /** Whether there may be more findings than those kept; {@link #unknown} apart. */
  boolean isPartial() {
    return isPartial;
  }

  /** Whether {@link #unknown} has all of them. */
  boolean hasAllUnknown() {
    return unknown.areAll();
  }

  ProductSnapshot sale() {
    return sale;
  }

  long databaseNow() {
    return databaseNow;
  }

  RedisSaleState seen() {
    return seen;
  }

  /** Orders that Redis had admitted at first and MySQL did not have: in flight or lost. */
  Map<OrderId, AdmissionRecord> unknown() {
    return unknown.kept();
  }

  /** Results that Redis has not received. */
  List<OrderResult> results() {
    return results;
  }

  /** Orders of MySQL that hold units, without a record or request in Redis. */
  Map<OrderId, AdmissionRecord> unrecorded() {
    return unrecorded;
  }

  List<WrongQuota> quotas() {
    return quotas;
  }

  /** Orders whose compensation Redis has not applied, even if MySQL has recorded it. */
  List<OrderId> undelivered() {
    return undelivered;
  }

  /**
   * Orders of an older epoch that arrived after this epoch was loaded, so that Redis never admitted
   * them. Computed from totals alone, because an absent record may also be one that Redis has lost.
   */
  Late late() {
    return new Late(
        Math.max(0, sale.settled() + unsettled - seen.seq()),
        Math.max(0, orders - seen.number("admittedOrders")),
        Math.max(0, units - seen.number("admittedUnits")));
  }

  /** Whether MySQL has decided just the orders that Redis has counted as admitted. */
  boolean isAtRest() {
    return unknown.kept().isEmpty()
        && sale.settled() == seen.seq()
        && orders == seen.number("admittedOrders")
        && units == seen.admittedUnits();
  }

  /** The stock that Redis should have; null when it has that stock, or that is not known. */
  @Nullable Long wrongStock() {
    long should = Math.max(0, stock);
    return Long.toString(should).equals(seen.stock()) ? null : should;
  }
}
