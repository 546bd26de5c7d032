package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.Partition;
import io.seckill.common.sale.LoadingOvertakenException;
import io.seckill.common.sale.SaleLoader;
import io.seckill.common.sale.SaleLoading;
import io.seckill.common.sale.SaleLoading.Begun;
import io.seckill.common.sale.SaleToLoad;
import io.seckill.consumer.barrier.Barriers;
import io.seckill.consumer.database.ConnectionPools;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Writes a sale that Redis has lost anew from MySQL, under a new epoch, and lets it go on. Every
 * step may be the last one of this process: until the end the sale admits nothing, and the next run
 * starts over.
 *
 * <ol>
 *   <li>The sale is stopped in Redis, if anything of it is there.
 *   <li>What lies in Redis's lists of it goes to the broker, and a barrier follows: then MySQL, or
 *       the dead letters, have everything there is. What an older Redis had admitted and is nowhere
 *       is sent again before.
 *   <li>MySQL raises the epoch. From here on gateways refuse what Redis had, give-backs of the old
 *       epoch are no-ops, and orders of it that still arrive are judged by MySQL's guards alone.
 *   <li>One snapshot of MySQL is loaded: the shelf holds MySQL's stock less what open dead letters
 *       may still take.
 * </ol>
 */
@Component
class Rebuild {

  private static final Logger log = LoggerFactory.getLogger(Rebuild.class);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final int BUCKETS_AT_ONCE = 2_048;
  private static final String CHANGED = "The sale has changed in MySQL meanwhile.";

  private final DataSource dataSource;
  private final JdbcClient jdbc;
  private final UnifiedJedis redis;
  private final RedisSale sales;
  private final OnTheWay onTheWay;
  private final Barriers barriers;
  private final LostOrders lost;
  private final KnownOrders known;

  Rebuild(
      ConnectionPools pools,
      JdbcClient jdbc,
      UnifiedJedis redis,
      RedisSale sales,
      OnTheWay onTheWay,
      Barriers barriers,
      LostOrders lost,
      KnownOrders known) {
    this.dataSource = pools.reconciliation();
    this.jdbc = jdbc;
    this.redis = redis;
    this.sales = sales;
    this.onTheWay = onTheWay;
    this.barriers = barriers;
    this.lost = lost;
    this.known = known;
  }

  /**
   * What came of it.
   *
   * @param done false when orders did not come to rest in time, or somebody else began a loading:
   *     the sale stays closed until the next run
   * @param detail for operators
   */
  record Rebuilt(boolean done, String detail, List<Repair> repairs) {}

  /**
   * @param atMost longest wait for orders to come to rest
   * @throws SQLException when MySQL cannot be asked; the sale stays closed
   */
  Rebuilt run(LedgerSale sale, RedisGlance seen, Duration atMost) throws SQLException {
    long deadline = System.nanoTime() + atMost.toNanos();
    List<Repair> repairs = new ArrayList<>();
    if (LedgerSnapshot.sale(jdbc, sale.skuId()).filter(sale::isSameLifeAs).isEmpty()) {
      return new Rebuilt(false, CHANGED, repairs);
    }
    if (!seen.isAbsent()
        && !seen.isLoading()
        && !sales.setState(sale.skuId(), seen, "PREHEATING")) {
      return new Rebuilt(false, "Redis has changed meanwhile.", repairs);
    }
    if (!awaitEmptyLists(sale.skuId(), deadline)) {
      return new Rebuilt(
          false, "Orders of the sale are still in Redis's lists; is a relay running?", repairs);
    }
    if (!settle(sale, seen, deadline, repairs)) {
      return new Rebuilt(
          false, "The barrier has not passed in time; orders are still being stored.", repairs);
    }
    if (!raiseEpoch(sale, seen)) {
      return new Rebuilt(false, CHANGED, repairs);
    }
    try {
      return load(sale, repairs);
    } catch (LoadingOvertakenException e) {
      return new Rebuilt(false, "Another loading of the sale has begun.", repairs);
    }
  }

  private boolean awaitEmptyLists(long sku, long deadline) {
    while (!onTheWay.of(sku).isEmpty()) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(POLL.toNanos());
    }
    return true;
  }

  /** A barrier; and once more after orders that an older Redis had admitted are sent again. */
  private boolean settle(LedgerSale sale, RedisGlance seen, long deadline, List<Repair> repairs) {
    int partition = Partition.ofSku(sale.skuId());
    if (!barriers.pass(partition, left(deadline))) {
      return false;
    }
    Map<OrderId, AdmissionRecord> missing = recordsOf(sale.skuId(), seen);
    known.among(missing.keySet()).forEach(missing::remove);
    if (missing.isEmpty()) {
      return true;
    }
    List<Repair> sent = lost.send(sale, missing, false);
    repairs.addAll(sent);
    return sent.stream().allMatch(Repair::made) && barriers.pass(partition, left(deadline));
  }

  private Map<OrderId, AdmissionRecord> recordsOf(long sku, RedisGlance seen) {
    Map<OrderId, AdmissionRecord> records = new HashMap<>();
    for (int from = 0; from < seen.buckets(); from += BUCKETS_AT_ONCE) {
      int to = Math.min(seen.buckets(), from + BUCKETS_AT_ONCE) - 1;
      records.putAll(sales.part(sku, from, to).records());
    }
    return records;
  }

  private static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
  }

  /**
   * The epoch goes above what Redis has heard of, too: MySQL may be the one that came back from a
   * backup. The sequence goes on above anything the lost data can have used: each order that was
   * admitted and not stored held at least one unit. So an order of the old epoch that arrives late
   * never makes the new data look behind, and old data that come back always do. Open dead letters
   * are not settled yet: each counts when it is replayed or discarded.
   */
  private boolean raiseEpoch(LedgerSale sale, RedisGlance seen) {
    return jdbc.sql(
                "UPDATE products SET epoch = GREATEST(epoch, ?) + 1,"
                    + " last_seq = GREATEST(last_seq, ?) + initial_stock, settled = last_seq - ("
                    + LedgerSnapshot.COUNT_OPEN_DEAD_LETTERS
                    + ")"
                    + " WHERE sku_id = ? AND epoch = ? AND state = ?")
            .params(
                seen.epoch(), seen.seq(), sale.skuId(), sale.skuId(), sale.epoch(), sale.state())
            .update()
        == 1;
  }

  private Rebuilt load(LedgerSale before, List<Repair> repairs) throws SQLException {
    try (LedgerSnapshot ledger = LedgerSnapshot.open(dataSource)) {
      Optional<LedgerSale> raised = ledger.sale(before.skuId());
      if (raised.isEmpty()) {
        throw new IllegalStateException("products are never deleted");
      }
      return load(raised.get(), ledger, repairs);
    }
  }

  private Rebuilt load(LedgerSale sale, LedgerSnapshot ledger, List<Repair> repairs) {
    List<OrderMessage> dead = ledger.openDeadLetters(sale.skuId());
    long reserved = dead.stream().mapToLong(OrderMessage::quantity).sum();
    SaleToLoad toLoad = sale.toLoad(Math.max(0, sale.stock() - reserved));
    SaleLoading loading = new SaleLoading(redis, toLoad, sale.loading());
    Begun begun = loading.begin(ledger.count(sale.skuId(), dead), SaleLoading.Replacing.ANYTHING);
    if (!(begun instanceof Begun.Loading ready)) {
      return new Rebuilt(
          false, "Redis holds something else in the sale's place: " + begun, repairs);
    }
    loading.clear(ready.bucketsToClear());
    int orders = write(sale, toLoad.buckets(), ledger, dead, loading.loader());
    loading.finish(contained(ledger, sale), sale.state());
    log.warn(
        "sku {}: rebuilt from MySQL under epoch {}, {} orders, {} units on the shelf",
        sale.skuId(),
        sale.epoch(),
        orders,
        toLoad.stock());
    repairs.add(
        Repair.of(
            RepairKind.SALE_REBUILT,
            sale.skuId(),
            "lost",
            "epoch %d, %d orders, stock %d".formatted(sale.epoch(), orders, toLoad.stock()),
            true));
    return new Rebuilt(true, "The sale is " + sale.state() + " again.", repairs);
  }

  private static Map<String, String> contained(LedgerSnapshot ledger, LedgerSale sale) {
    return ledger.changes(sale).entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, change -> sale.epoch() + ":" + change.getValue() + ":A"));
  }

  /** Quotas and orders as MySQL has them, and what open dead letters may still become. */
  private int write(
      LedgerSale sale,
      int buckets,
      LedgerSnapshot ledger,
      List<OrderMessage> dead,
      SaleLoader loader) {
    Map<Long, Long> deadUnits =
        dead.stream()
            .collect(
                Collectors.groupingBy(
                    OrderMessage::userId, Collectors.summingLong(OrderMessage::quantity)));
    int orders = 0;
    for (int from = 0; from < buckets; from += BUCKETS_AT_ONCE) {
      int to = Math.min(buckets, from + BUCKETS_AT_ONCE) - 1;
      LedgerPart part = ledger.part(sale, buckets, from, to);
      part.orders().forEach(loader::order);
      part.aliases().forEach(loader::alias);
      part.giveBacks()
          .forEach(
              (id, units) -> loader.givenBack(id, units.userId(), units.stock(), units.quota()));
      if (sale.policy().keepsQuota()) {
        part.quotas()
            .forEach(
                (user, units) ->
                    loader.quota(
                        user, units + Optional.ofNullable(deadUnits.remove(user)).orElse(0L)));
      }
      orders += part.orders().size();
    }
    if (sale.policy().keepsQuota()) {
      deadUnits.forEach(loader::quota);
    }
    dead.forEach(order -> loader.order(order.orderId(), delayed(order)));
    loader.flush();
    return orders;
  }

  private static AdmissionRecord delayed(OrderMessage order) {
    AdmissionRecord queued = AdmissionRecord.queued(order);
    return new AdmissionRecord(
        queued.userId(),
        queued.requestId(),
        queued.quantity(),
        queued.seq(),
        queued.admittedAt(),
        queued.epoch(),
        OrderStatus.DELAYED,
        null,
        queued.changedAt(),
        null);
  }
}
