package io.seckill.consumer.storage;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderTrail;
import io.seckill.common.order.Partition;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.Sleeps;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.storage.OrderTable.Request;
import io.seckill.consumer.storage.OrderTable.RequestKey;
import io.seckill.consumer.storage.QuotaTable.Raise;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Decides purchases of strong sales in MySQL and stores those that it confirms, a batch of one SKU
 * in one transaction. First assumes that every purchase of the batch can be confirmed, unless the
 * batch before had some that a guard refuses. If a guard refuses that, everything is undone, and
 * each purchase is decided from reads without locks: every write guards these reads, and when one
 * refuses, it is decided again. Thread-safe.
 */
@Component
public final class StrongSales {

  private static final Logger log = LoggerFactory.getLogger(StrongSales.class);

  /**
   * How long a batch waits for its turn in the partition, and then for a connection. Gateways wait
   * little longer for the answer.
   */
  private static final Duration PATIENCE = Duration.ofMillis(100);

  /** Batches of one partition at once: while one product is locked, others are sold. */
  static final int BATCHES_OF_PARTITION = ConnectionPools.STRONG_BATCHES / 2;

  /** Of purchases that the guards refuse, together with their batch. */
  private static final Set<Outcome> GUARDED =
      EnumSet.of(Outcome.REPEATED, Outcome.IDEMPOTENCY_KEY_REUSED, Outcome.QUOTA_EXCEEDED);

  private static final int RETRIES = 3;
  private static final long FIRST_PAUSE_MS = 4;
  private static final long LONGEST_PAUSE_MS = 16;

  /** The order of locks of all writers: by user, then SKU (facts.md 33). */
  private static final Comparator<OrderMessage> BY_USER =
      Comparator.comparingLong(OrderMessage::userId).thenComparing(OrderMessage::orderId);

  private final Transactions transactions;
  private final StrongOrderIds ids;
  private final StrongMetrics metrics;
  private final List<ConnectionShare> ofPartition =
      Stream.generate(() -> new ConnectionShare(BATCHES_OF_PARTITION, PATIENCE))
          .limit(Partition.COUNT)
          .toList();
  private final ConnectionShare connections =
      new ConnectionShare(ConnectionPools.STRONG_BATCHES, PATIENCE);

  /** While batches bring such purchases, as shoppers may at will, each is decided from reads. */
  private volatile boolean bringsGuarded;

  StrongSales(ConnectionPools pools, StrongOrderIds ids, MeterRegistry meters) {
    this.transactions = Transactions.once(pools.strongSales());
    this.ids = ids;
    this.metrics = new StrongMetrics(meters);
  }

  /**
   * @return after COMMIT, a decision for each, in their order
   */
  public List<StrongDecision> decide(List<StrongPurchase> purchases) {
    Map<Long, List<Integer>> bySku = new TreeMap<>();
    for (int i = 0; i < purchases.size(); i++) {
      bySku.computeIfAbsent(purchases.get(i).skuId(), sku -> new ArrayList<>()).add(i);
    }
    List<StrongDecision> decisions =
        new ArrayList<>(Collections.nCopies(purchases.size(), StrongDecision.of(Outcome.UNKNOWN)));
    bySku.forEach(
        (sku, places) -> {
          List<StrongDecision> ofSku = decideSku(sku, places.stream().map(purchases::get).toList());
          for (int i = 0; i < places.size(); i++) {
            decisions.set(places.get(i), ofSku.get(i));
          }
        });
    return decisions;
  }

  private List<StrongDecision> decideSku(long sku, List<StrongPurchase> purchases) {
    long start = System.nanoTime();
    Supplier<List<StrongDecision>> busy = () -> all(purchases, Outcome.BUSY);
    List<StrongDecision> decisions =
        ofPartition
            .get(Partition.ofSku(sku))
            .within(() -> connections.within(() -> repeatedly(sku, purchases), busy), busy);
    trail(purchases, decisions);
    return metrics.count(decisions, System.nanoTime() - start);
  }

  private static void trail(List<StrongPurchase> purchases, List<StrongDecision> decisions) {
    for (int i = 0; OrderTrail.isOn() && i < purchases.size(); i++) {
      OrderId stored = decisions.get(i).orderId();
      if (stored != null && decisions.get(i).outcome() == Outcome.CONFIRMED) {
        OrderTrail.mark(stored, purchases.get(i).skuId(), purchases.get(i).traceparent(), "stored");
      }
    }
  }

  private List<StrongDecision> repeatedly(long sku, List<StrongPurchase> purchases) {
    try {
      List<OrderId> orderIds = ids.next(Partition.ofSku(sku), purchases.size());
      for (int retries = 0; ; retries++) {
        Optional<List<StrongDecision>> decided = once(sku, purchases, orderIds, retries == 0);
        if (decided.isPresent()) {
          return decided.get();
        }
        metrics.conflict();
        if (retries == RETRIES) {
          return all(purchases, Outcome.BUSY);
        }
        long pauseMs = Sleeps.jitteredMs(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, retries);
        Sleeps.nanos(TimeUnit.MILLISECONDS.toNanos(pauseMs));
      }
    } catch (DataAccessException | TransactionException e) {
      if (SqlFailure.of(e) == SqlFailure.STATEMENT && purchases.size() > 1) {
        return halved(sku, purchases);
      }
      log.warn("MySQL has failed while it decided purchases of sku {}: {}", sku, e.toString());
      return all(purchases, Outcome.UNKNOWN);
    }
  }

  /** Decides two smaller batches: the statements of this one exceed a limit of MySQL. */
  private List<StrongDecision> halved(long sku, List<StrongPurchase> purchases) {
    int half = purchases.size() / 2;
    List<StrongDecision> decisions = new ArrayList<>(repeatedly(sku, purchases.subList(0, half)));
    decisions.addAll(repeatedly(sku, purchases.subList(half, purchases.size())));
    return decisions;
  }

  /** The decisions of a transaction; in a {@code fallback} Redis decides the sale otherwise. */
  private record Decided(List<StrongDecision> decisions, boolean fallback) {

    static Decided by(StrongBatch batch, StrongSale sale) {
      return new Decided(batch.decisions(), sale.phase().isInFallback());
    }
  }

  /** Empty after a conflict: everything was undone. */
  private Optional<List<StrongDecision>> once(
      long sku, List<StrongPurchase> purchases, List<OrderId> orderIds, boolean isFirst) {
    try {
      Optional<Decided> decided =
          transactions.run(
              jdbc ->
                  isFirst && !bringsGuarded
                      ? allConfirmed(jdbc, sku, purchases, orderIds)
                      : decided(jdbc, sku, purchases, orderIds));
      decided.filter(Decided::fallback).map(Decided::decisions).ifPresent(metrics::served);
      Optional<List<StrongDecision>> decisions = decided.map(Decided::decisions);
      decisions.ifPresent(
          all -> bringsGuarded = all.stream().anyMatch(one -> GUARDED.contains(one.outcome())));
      return decisions;
    } catch (DataAccessException | TransactionException e) {
      SqlFailure failure = SqlFailure.of(e);
      if (failure == SqlFailure.UNAVAILABLE || failure == SqlFailure.STATEMENT) {
        throw e;
      }
      log.debug("A batch of sku {} is decided again", sku, e);
      return Optional.empty();
    }
  }

  /**
   * Decides as if every user and every key were new, without reading quotas and requests: the
   * guards find those that are not. Returns null when a guard has refused.
   */
  private static @Nullable Decided allConfirmed(
      JdbcOperations jdbc, long sku, List<StrongPurchase> purchases, List<OrderId> orderIds) {
    StrongSale sale = StrongSale.find(jdbc, sku);
    if (sale == null || !sale.phase().mySqlDecides()) {
      return undecided(sale, purchases);
    }
    StrongBatch batch =
        new StrongBatch(sale, new HashMap<>(), new HashMap<>(), orderIds).decide(purchases);
    if (batch.hasRefused()) { // unless its key is known
      return decided(jdbc, sku, purchases, orderIds);
    }
    return store(jdbc, sale, batch) ? Decided.by(batch, sale) : null;
  }

  /**
   * Reads the requests last: a read may see the units that a first attempt of the same request has
   * taken only if it sees the request, too. Otherwise its repeat would be refused. Returns null
   * when a guard has refused.
   */
  private static @Nullable Decided decided(
      JdbcOperations jdbc, long sku, List<StrongPurchase> purchases, List<OrderId> orderIds) {
    StrongSale sale = StrongSale.find(jdbc, sku);
    if (sale == null || !sale.phase().mySqlDecides()) {
      return undecided(sale, purchases);
    }
    Map<Long, Integer> owned =
        sale.rules().keepsQuota() ? QuotaTable.owned(jdbc, sku, users(purchases)) : new HashMap<>();
    List<RequestKey> keys = purchases.stream().map(RequestKey::of).toList();
    Map<RequestKey, Request> requests = OrderTable.findRequests(jdbc, keys);
    if (sale.state() == SaleState.CLOSED) { // it may be archived; its keys still have their orders
      requests.putAll(OrderTable.findArchivedRequests(jdbc, keys));
    }
    StrongBatch batch = new StrongBatch(sale, requests, owned, orderIds).decide(purchases);
    if (!batch.admitted().isEmpty() && !store(jdbc, sale, batch)) {
      return null;
    }
    return Decided.by(batch, sale);
  }

  /** A gateway may not have read yet which store decides the sale now. */
  private static Decided undecided(@Nullable StrongSale sale, List<StrongPurchase> purchases) {
    return new Decided(
        all(purchases, sale == null ? Outcome.UNKNOWN_SKU : Outcome.BUSY), sale != null);
  }

  private static boolean store(JdbcOperations jdbc, StrongSale sale, StrongBatch batch) {
    long sku = sale.rules().skuId();
    Map<Long, SaleRules> rules = Map.of(sku, sale.rules());
    List<OrderMessage> orders = batch.admitted().stream().sorted(BY_USER).toList();
    List<Raise> raises = QuotaTable.raises(orders, rules);
    if (raises == null) {
      return false;
    }
    OrderTable.insertNew(jdbc, orders, rules);
    QuotaTable.raiseAll(jdbc, raises);
    OrderTotalTable.Addition totals = new OrderTotalTable.Addition();
    orders.forEach(order -> totals.add(sku, OrderFate.CONFIRMED, order.quantity()));
    if (!ProductTable.takeStrong(jdbc, sku, batch.units(), orders.size(), sale.version())) {
      return false;
    }
    totals.write(jdbc);
    return true;
  }

  private static List<Long> users(List<StrongPurchase> purchases) {
    return purchases.stream().map(StrongPurchase::userId).distinct().toList();
  }

  private static List<StrongDecision> all(List<StrongPurchase> purchases, Outcome outcome) {
    return Collections.nCopies(purchases.size(), StrongDecision.of(outcome));
  }
}
