package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.reconciliation.DatabaseSnapshot.StoredChange;
import io.seckill.consumer.reconciliation.RedisSale.Late;
import io.seckill.consumer.reconciliation.RedisSale.WrongQuota;
import io.seckill.consumer.results.OrderResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What Redis should hold, by what MySQL held a moment before. MySQL is read first, so an order that
 * it does not know is on its way, or nowhere; either way its units are taken. With {@code sd} and
 * {@code ud} MySQL's stock and quota, what Redis should have is
 *
 * <pre>
 * stock    = sd − units on their way − units of compensations not taken yet + changes under way in Redis alone
 * quota(u) = ud(u) + u's units on their way + units of u's compensations not taken yet
 * </pre>
 *
 * <p>where a compensation that Redis knew before this snapshot of MySQL, or a change under way in
 * MySQL alone, counts the other way. A change that has ended is in both stores, or in neither;
 * where Redis says otherwise, it has lost something. Its counters should hold what MySQL had
 * stored, or settled, and what is on the way. Nothing here depends on when an order is stored in
 * between: its units pass from one term to another. Fed bucket by bucket; the sums are complete at
 * the end. For one thread.
 */
final class Comparison {

  /** What is younger is still being told to Redis by those who decided it. */
  private static final long BEING_TOLD_MS = 2_000;

  private final ProductSnapshot sale;
  private final RedisSaleState seen;
  private final long ledgerNow;
  private final Map<OrderId, AdmissionRecord> unknown = new HashMap<>();
  private final List<OrderResult> results = new ArrayList<>();
  private final Map<OrderId, AdmissionRecord> unrecorded = new HashMap<>();
  private final List<WrongQuota> quotas = new ArrayList<>();
  private final List<OrderId> undelivered = new ArrayList<>();
  private long stock;
  private long orders;
  private long units;
  private long unsettled;

  /**
   * @param ledgerNow MySQL's clock, Unix ms
   * @param changesInMySql stock changes of this epoch, by id
   * @param changesInRedis those that Redis's stock contains, with their units
   */
  Comparison(
      ProductSnapshot sale,
      RedisSaleState seen,
      long ledgerNow,
      Map<String, StoredChange> changesInMySql,
      Map<String, Long> changesInRedis) {
    this.sale = sale;
    this.seen = seen;
    this.ledgerNow = ledgerNow;
    this.stock = sale.stock() + changesUnderWay(changesInMySql, changesInRedis);
  }

  /**
   * Units by which Redis's stock is ahead of MySQL's. One that MySQL did not know yet has begun.
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

  void add(DatabasePart ledger, RedisPart redis) {
    Map<Long, Long> wanted = new HashMap<>(ledger.quotas());
    redis.records().forEach((id, order) -> compare(id, order, ledger, wanted));
    ledger.orders().forEach((id, order) -> findUnrecorded(id, order, redis));
    ledger.aliases().forEach((id, order) -> findUnrecorded(id, order, redis));
    ledger.orders().values().forEach(this::count);
    ledger.aliases().values().forEach(this::count);
    countCompensations(ledger, redis, wanted);
    if (sale.policy().keepsQuota()) {
      compareQuotas(wanted, redis);
    }
  }

  private void compare(
      OrderId id, AdmissionRecord order, DatabasePart ledger, Map<Long, Long> wanted) {
    AdmissionRecord stored = ledger.orders().get(id);
    if (stored == null) {
      stored = ledger.aliases().get(id);
    }
    if (stored == null) {
      unknown.put(id, order);
      wanted.merge(order.userId(), (long) order.quantity(), Long::sum);
      if (order.seq() <= seen.seq()) {
        stock -= order.quantity();
        unsettled++;
        count(order);
      }
    } else if (stored.status().replaces(order.status()) && isTold(stored.changedAt())) {
      results.add(result(id, stored));
    }
  }

  private void count(AdmissionRecord order) {
    orders++;
    units += order.quantity();
  }

  private boolean isTold(long decidedAt) {
    return decidedAt <= ledgerNow - BEING_TOLD_MS;
  }

  private OrderResult result(OrderId id, AdmissionRecord stored) {
    return new OrderResult(
        id,
        sale.skuId(),
        stored.userId(),
        stored.status(),
        stored.reason(),
        stored.storedOrderId());
  }

  private void findUnrecorded(OrderId id, AdmissionRecord order, RedisPart redis) {
    boolean needsRequest = order.storedOrderId() == null;
    if (!redis.records().containsKey(id)
        || (needsRequest && !redis.requests().containsKey(RedisSale.request(order)))) {
      unrecorded.put(id, order);
    }
  }

  private void countCompensations(DatabasePart ledger, RedisPart redis, Map<Long, Long> wanted) {
    ledger
        .compensations()
        .forEach(
            (id, pending) -> {
              if (!redis.compensated().containsKey(id)) {
                stock -= pending.stock();
                wanted.merge(pending.userId(), pending.quota(), Long::sum);
                if (isTold(pending.endedAt())) {
                  undelivered.add(id);
                }
              }
            });
    redis
        .compensated()
        .forEach(
            (id, units) -> {
              AdmissionRecord order = redis.records().get(id);
              if (!ledger.compensations().containsKey(id) && order != null) {
                stock += units.stock();
                wanted.merge(order.userId(), -units.quota(), Long::sum);
              }
            });
  }

  private void compareQuotas(Map<Long, Long> wanted, RedisPart redis) {
    Set<Long> users = new HashSet<>(wanted.keySet());
    users.addAll(redis.quotas().keySet());
    for (Long user : users) {
      String found = redis.quotas().getOrDefault(user, "");
      long should = Math.max(0, wanted.getOrDefault(user, 0L));
      if (!found.equals(should == 0 ? "" : Long.toString(should))
          && !(should == 0 && found.equals("0"))) {
        quotas.add(new WrongQuota(user, found, should));
      }
    }
  }

  ProductSnapshot sale() {
    return sale;
  }

  RedisSaleState seen() {
    return seen;
  }

  /** Orders that Redis admitted and MySQL did not know: on their way, or nowhere. */
  Map<OrderId, AdmissionRecord> unknown() {
    return unknown;
  }

  /** Results that Redis has not heard. */
  List<OrderResult> results() {
    return results;
  }

  /** Orders of MySQL without record or request in Redis. */
  Map<OrderId, AdmissionRecord> unrecorded() {
    return unrecorded;
  }

  List<WrongQuota> quotas() {
    return quotas;
  }

  /** Orders whose compensation Redis has not taken, whatever MySQL believes. */
  List<OrderId> undelivered() {
    return undelivered;
  }

  /**
   * Orders that came from an older epoch after this one was loaded, so that Redis never admitted
   * them. By sums alone: a record that is absent may as well be one that Redis has lost.
   */
  Late late() {
    return new Late(
        Math.max(0, sale.settled() + unsettled - seen.seq()),
        Math.max(0, orders - seen.admittedOrders()),
        Math.max(0, units - seen.admittedUnits()));
  }

  /** What the stock should be; null when it is. */
  @Nullable Long wrongStock() {
    long should = Math.max(0, stock);
    return Long.toString(should).equals(seen.stock()) ? null : should;
  }
}
