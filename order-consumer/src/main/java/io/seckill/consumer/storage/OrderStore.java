package io.seckill.consumer.storage;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.storage.OrderTable.RequestKey;
import io.seckill.consumer.storage.QuotaTable.Raise;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Stores batches of orders in MySQL, which makes the final decision on each. Thread-safe; one
 * transaction at a time for each caller.
 *
 * <p>A batch is first stored as one in which every order can be confirmed. If MySQL refuses that,
 * everything is rolled back, and the orders that get no row are decided apart from the others. If
 * the others cannot all be confirmed, each is decided by itself, still in one transaction. If MySQL
 * refuses even that for a reason no rule explains, or refuses a statement because of its size, the
 * batch is halved until the refused order is alone.
 */
@Component
public class OrderStore {

  private static final Logger log = LoggerFactory.getLogger(OrderStore.class);

  /**
   * The order of locks: by user, then SKU (facts.md 33); within a user first come, first served.
   */
  private static final Comparator<OrderMessage> BY_USER_AND_SKU =
      Comparator.comparingLong(OrderMessage::userId)
          .thenComparingLong(OrderMessage::skuId)
          .thenComparingLong(OrderMessage::seq)
          .thenComparing(OrderMessage::orderId);

  /**
   * When MySQL has refused the statements of so many orders of a batch, each alone, and has written
   * no order of it, the cause is a limit that concerns all orders, such as the longest time of a
   * statement. Then no order is blamed, or all that wait would become dead letters. Fewer are
   * blamed. A batch takes all that waits in the queue, up to its size, so more bad orders than this
   * keep none waiting: they are blamed with the first batch in which another order is stored.
   */
  private static final int ALL_REFUSED = 8;

  private final Transactions storing;
  private final Transactions discarding;
  private final StoreMetrics metrics;

  /** While batches bring orders that get no row, as repeats do, each is searched for them. */
  private volatile boolean bringsRowless;

  /**
   * @param pools for {@link #store}: a connection for each thread that calls it
   * @param manager of the transactions for {@link #discard}
   * @param others its connection pool
   */
  OrderStore(
      ConnectionPools pools,
      PlatformTransactionManager manager,
      DataSource others,
      MeterRegistry meters) {
    this.storing = Transactions.ofStorage(pools, meters);
    this.discarding = Transactions.apart(manager, others, meters);
    this.metrics = new StoreMetrics(meters);
  }

  /**
   * @param orders any orders, at least one; ids may repeat
   * @return after COMMIT, an outcome for each
   * @throws DatabaseUnavailableException when MySQL cannot decide now; some or all may be stored
   */
  public StoredBatch store(List<OrderMessage> orders) throws DatabaseUnavailableException {
    Map<OrderId, OrderMessage> first = new HashMap<>();
    List<OrderMessage> repeats = new ArrayList<>();
    for (OrderMessage order : orders) {
      if (first.putIfAbsent(order.orderId(), order) != null) {
        repeats.add(order);
      }
    }
    StoredBatch stored = storeDistinct(first.values().stream().sorted(BY_USER_AND_SKU).toList());
    // The rows that MySQL has by now decide whether a repeat is a duplicate or a conflict.
    return repeats.isEmpty() ? stored : stored.and(store(repeats));
  }

  /**
   * Stores an order as REJECTED because an operator gave up on its dead letter. The units returned
   * to Redis follow the policy in the message; MySQL may have another, or no such product.
   *
   * @return after COMMIT, one outcome: Rejected, or the outcome that the order had before;
   *     Unstorable when MySQL has a different order with that id, and nothing was written
   * @throws DatabaseUnavailableException when MySQL cannot decide now
   */
  public StoredBatch discard(OrderMessage order) throws DatabaseUnavailableException {
    Attempt attempt =
        Attempt.repeated(
            discarding,
            jdbc -> {
              StoreOutcome archived = ArchivedOrders.among(jdbc, List.of(order)).get(order);
              if (archived != null) {
                return StoredBatch.of(archived);
              }
              long sku = order.skuId();
              SaleRules sale = ProductTable.rules(jdbc, List.of(sku)).get(sku);
              long price = sale == null ? 0 : sale.priceCents();
              SaleRules asAdmitted = new SaleRules(sku, price, order.policy(), order.quantity());
              return new PerOrderPath(jdbc, Map.of(sku, asAdmitted)).discard(order);
            });
    if (attempt.batch() == null) {
      throw new DatabaseUnavailableException(attempt.refusal(), null);
    }
    return attempt.batch();
  }

  private StoredBatch storeDistinct(List<OrderMessage> orders) throws DatabaseUnavailableException {
    long start = System.nanoTime();
    AtomicInteger refusedStatements = new AtomicInteger();
    StoredBatch stored =
        bringsRowless ? rowlessApart(orders, refusedStatements) : asNew(orders, refusedStatements);
    if (refusedStatements.get() >= ALL_REFUSED
        && stored.outcomes().stream().filter(OrderStore::needsAWrite).count()
            == refusedStatements.get()) {
      throw new DatabaseUnavailableException(
          "MySQL refuses the statements of every order: " + stored.outcomes().get(0), null);
    }
    metrics.count(stored, System.nanoTime() - start);
    return stored;
  }

  /** Not of an order that MySQL had before, or that is unfit. */
  private static boolean needsAWrite(StoreOutcome outcome) {
    return !(outcome instanceof Known
        || outcome instanceof Unstorable
        || (outcome instanceof Alias alias && !alias.now()));
  }

  /** {@code refusedStatements} counts the orders whose statements MySQL refuses. */
  private StoredBatch asNew(List<OrderMessage> orders, AtomicInteger refusedStatements)
      throws DatabaseUnavailableException {
    Attempt bulk = inBulk(orders);
    if (bulk.batch() != null) {
      return bulk.batch();
    }
    if (bulk.failure() == SqlFailure.STATEMENT && orders.size() > 1) {
      int half = orders.size() / 2;
      return asNew(orders.subList(0, half), refusedStatements)
          .and(asNew(orders.subList(half, orders.size()), refusedStatements));
    }
    Set<OrderId> rowless = rowless(orders);
    if (rowless.isEmpty()) {
      metrics.split();
      return byItself(orders, refusedStatements);
    }
    return apart(orders, rowless, refusedStatements);
  }

  private StoredBatch rowlessApart(List<OrderMessage> orders, AtomicInteger refusedStatements)
      throws DatabaseUnavailableException {
    Set<OrderId> rowless = rowless(orders);
    return rowless.isEmpty()
        ? asNew(orders, refusedStatements)
        : apart(orders, rowless, refusedStatements);
  }

  /** Decides the orders that get no row by themselves: one alone fails the bulk path for all. */
  private StoredBatch apart(
      List<OrderMessage> orders, Set<OrderId> rowless, AtomicInteger refusedStatements)
      throws DatabaseUnavailableException {
    Map<Boolean, List<OrderMessage>> parts =
        orders.stream().collect(Collectors.partitioningBy(o -> rowless.contains(o.orderId())));
    List<OrderMessage> others = Objects.requireNonNull(parts.get(false));
    StoredBatch stored = others.isEmpty() ? StoredBatch.EMPTY : asNew(others, refusedStatements);
    return stored.and(byItself(Objects.requireNonNull(parts.get(true)), refusedStatements));
  }

  /**
   * Orders that have a row already, are unfit, or repeat the request of a row or of an order before
   * them; others may be stored meanwhile.
   */
  private Set<OrderId> rowless(List<OrderMessage> orders) throws DatabaseUnavailableException {
    Set<OrderId> rowless = new HashSet<>();
    Attempt unused =
        Attempt.of(
            storing,
            jdbc -> {
              Map<Long, SaleRules> rules = ProductTable.rules(jdbc, skusOf(orders));
              // An alias is stored for a request that has a row.
              List<RequestKey> keys = orders.stream().map(RequestKey::of).toList();
              Set<RequestKey> requests =
                  new HashSet<>(OrderTable.findRequests(jdbc, keys).keySet());
              for (OrderMessage order : orders) {
                if (!requests.add(RequestKey.of(order)) || SaleRules.unfit(rules, order) != null) {
                  rowless.add(order.orderId());
                }
              }
              rowless.addAll(OrderTable.find(jdbc, orders).keySet());
              return StoredBatch.EMPTY;
            });
    bringsRowless = !rowless.isEmpty();
    return rowless;
  }

  private Attempt inBulk(List<OrderMessage> orders) throws DatabaseUnavailableException {
    return Attempt.of(
        storing,
        jdbc -> {
          Map<Long, SaleRules> rules = ProductTable.rules(jdbc, skusOf(orders));
          boolean fit = orders.stream().allMatch(order -> SaleRules.unfit(rules, order) == null);
          return fit ? bulk(jdbc, orders, rules) : null;
        });
  }

  /**
   * Confirms every order, with one statement for all orders, one for all quotas and one per SKU for
   * the stock. The statements are the guards: an order that cannot be confirmed makes one of them
   * fail, and then the whole transaction is rolled back, as it is when this returns null.
   */
  private static @Nullable StoredBatch bulk(
      JdbcOperations jdbc, List<OrderMessage> orders, Map<Long, SaleRules> rules) {
    List<Raise> raises = QuotaTable.raises(orders, rules);
    if (raises == null) {
      return null;
    }
    OrderTable.insertNew(jdbc, orders, rules);
    QuotaTable.raiseAll(jdbc, raises);
    List<StoreOutcome> outcomes = new ArrayList<>(orders.size());
    BatchTally tally = new BatchTally();
    for (OrderMessage order : orders) {
      outcomes.add(new Stored(order));
      tally.add(order, OrderFate.CONFIRMED);
    }
    return tally.take(jdbc) ? new StoredBatch(outcomes, List.of(), tally.progress(jdbc)) : null;
  }

  /** Decides each order by itself, in one transaction if MySQL allows it, else in smaller ones. */
  private StoredBatch byItself(List<OrderMessage> orders, AtomicInteger refusedStatements)
      throws DatabaseUnavailableException {
    Attempt attempt = Attempt.repeated(storing, jdbc -> decided(jdbc, orders));
    if (attempt.batch() != null) {
      return attempt.batch();
    }
    if (orders.size() > 1) {
      int half = orders.size() / 2;
      return byItself(orders.subList(0, half), refusedStatements)
          .and(byItself(orders.subList(half, orders.size()), refusedStatements));
    }
    if (attempt.failure() == SqlFailure.STATEMENT) {
      refusedStatements.incrementAndGet();
    }
    log.warn("MySQL refuses order {}: {}", orders.get(0).orderId(), attempt.refusal());
    return StoredBatch.of(new Failed(orders.get(0), attempt.refusal()));
  }

  private StoredBatch decided(JdbcOperations jdbc, List<OrderMessage> orders) {
    Map<Long, SaleRules> rules = ProductTable.rules(jdbc, skusOf(orders));
    List<OrderMessage> fit = new ArrayList<>(orders.size());
    List<StoreOutcome> unfit = new ArrayList<>();
    for (OrderMessage order : orders) {
      Unstorable verdict = SaleRules.unfit(rules, order);
      if (verdict == null) {
        fit.add(order);
      } else {
        unfit.add(verdict);
      }
    }
    StoredBatch unstorable =
        new StoredBatch(ArchivedOrders.orArchived(jdbc, unfit), List.of(), List.of());
    return fit.isEmpty() ? unstorable : unstorable.and(new PerOrderPath(jdbc, rules).decide(fit));
  }

  private static SortedSet<Long> skusOf(List<OrderMessage> orders) {
    SortedSet<Long> skus = new TreeSet<>();
    orders.forEach(order -> skus.add(order.skuId()));
    return skus;
  }
}
