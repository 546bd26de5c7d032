package io.seckill.consumer.storage;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.orders.Compensation;
import io.seckill.consumer.orders.CompensationTable;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.storage.OrderTable.Buyer;
import io.seckill.consumer.storage.OrderTable.NewOrder;
import io.seckill.consumer.storage.OrderTable.RequestKey;
import io.seckill.consumer.storage.OrderTable.Row;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Rejected;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import io.seckill.consumer.storage.StoreOutcome.Unfit;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Decides orders one by one, in one transaction, by the table in docs/architecture.md. One instance
 * per transaction.
 *
 * <p>Locks are taken in the same order as by every writer: orders, quota by (user, SKU), products
 * by SKU last. Only rows of this transaction are changed after that. A row that another transaction
 * inserts between the reads and the inserts here makes an insert fail; the caller rolls back and
 * decides again.
 */
final class PerOrderPath {

  private static final Comparator<OrderMessage> BY_SEQ =
      Comparator.comparingLong(OrderMessage::seq).thenComparing(OrderMessage::orderId);

  private final JdbcOperations jdbc;
  private final Map<Long, SaleRules> rules;

  private final List<StoreOutcome> outcomes = new ArrayList<>();
  private final List<NewOrder> rows = new ArrayList<>();
  private final List<OrderMessage> candidates = new ArrayList<>();
  private final List<OrderId> knownIds = new ArrayList<>();
  private final Map<OrderId, OrderId> newAliases = new TreeMap<>();
  private final List<Compensation> toCompensate = new ArrayList<>();
  private final BatchTally tally = new BatchTally();
  private boolean discarding;

  PerOrderPath(JdbcOperations jdbc, Map<Long, SaleRules> rules) {
    this.jdbc = jdbc;
    this.rules = rules;
  }

  /**
   * @param orders of known SKUs, each id once, sorted by user and SKU; not empty
   * @throws DataAccessException of a duplicate key when another process has stored one of them
   *     meanwhile, or on any other failure
   */
  StoredBatch decide(List<OrderMessage> orders) {
    screen(orders);
    OrderTable.insert(jdbc, rows);
    List<OrderMessage> withinQuota = raiseQuotas();
    takeStock(withinQuota);
    OrderTable.insertAliases(jdbc, newAliases);
    CompensationTable.insert(jdbc, toCompensate);
    // Without a product there is no stock to update; only a discarded order may have no product.
    if (!tally.take(jdbc) && !discarding) {
      throw new IllegalStateException("stock went although its row was locked");
    }
    List<Compensation> toDeliver = new ArrayList<>(toCompensate);
    toDeliver.addAll(CompensationTable.pendingOf(jdbc, knownIds));
    return new StoredBatch(outcomes, toDeliver, tally.progress(jdbc));
  }

  /**
   * Rejects an order that an operator gave up on: nothing was ever taken for it in MySQL, and the
   * units that Redis took are returned. An order that is known, or whose request is known, does not
   * change. Its product may be missing from MySQL.
   *
   * @throws DataAccessException as {@link #decide}
   */
  StoredBatch discard(OrderMessage order) {
    discarding = true;
    return decide(List.of(order));
  }

  /**
   * Finds the orders that are known already, and those that are refused regardless of quota and
   * stock. The orders themselves are read last: another consumer may commit one of them between two
   * reads, and an order that is not found although its request is found would be mistaken for a
   * second order of that request.
   */
  private void screen(List<OrderMessage> orders) {
    Map<RequestKey, OrderId> requests = new HashMap<>();
    OrderTable.findRequests(jdbc, orders.stream().map(RequestKey::of).toList())
        .forEach((key, stored) -> requests.put(key, stored.orderId()));
    Set<Buyer> buyers = new HashSet<>(OrderTable.findBuyers(jdbc, onePerUser(orders)));
    Map<OrderId, OrderId> aliases = OrderTable.findAliases(jdbc, orders);
    Map<OrderId, Row> stored = OrderTable.find(jdbc, orders);
    for (OrderMessage order : orders) {
      Row row = stored.get(order.orderId());
      OrderId aliasOf = aliases.get(order.orderId());
      OrderId sameRequest = requests.get(RequestKey.of(order));
      if (row != null) {
        outcomes.add(known(order, row));
      } else if (aliasOf != null) {
        knownIds.add(order.orderId());
        outcomes.add(new Alias(order, aliasOf, false));
      } else if (sameRequest != null) {
        alias(order, sameRequest);
      } else {
        requests.put(RequestKey.of(order), order.orderId());
        place(order, buyers);
      }
    }
  }

  private List<OrderMessage> onePerUser(List<OrderMessage> orders) {
    return orders.stream().filter(this::isOnePerUser).toList();
  }

  private boolean isOnePerUser(OrderMessage order) {
    return SaleRules.of(rules, order).policy() == PurchasePolicy.ONE_PER_USER;
  }

  private StoreOutcome known(OrderMessage order, Row row) {
    if (!row.hasContentOf(order)) {
      return new Unstorable(
          order, Unfit.OTHER_CONTENT, "stored as " + row.status() + " with other content: " + row);
    }
    knownIds.add(order.orderId());
    return new Known(order, row.status(), row.reason(), row.updatedAt());
  }

  /** Keeps the first order of the request; returns the units of this one to stock and quota. */
  private void alias(OrderMessage order, OrderId stored) {
    newAliases.put(order.orderId(), stored);
    tally.add(order, OrderFate.ALIASES);
    compensate(order, order.quantity(), quotaUnits(order));
    outcomes.add(new Alias(order, stored, true));
  }

  /** Checks the limit here because no statement guards the first purchase (facts.md 29). */
  private void place(OrderMessage order, Set<Buyer> buyers) {
    SaleRules sale = SaleRules.of(rules, order);
    if (discarding) {
      rows.add(new NewOrder(order, sale, RejectReason.DISCARDED));
      tally.add(order, OrderFate.REJECTED);
      compensate(order, order.quantity(), quotaUnits(order));
      outcomes.add(new Rejected(order, RejectReason.DISCARDED));
      return;
    }
    boolean tooMuch = sale.keepsQuota() && order.quantity() > sale.limit();
    if (tooMuch || (isOnePerUser(order) && !buyers.add(Buyer.of(order)))) {
      rows.add(new NewOrder(order, sale, RejectReason.QUOTA_EXCEEDED));
      quotaRefused(order);
    } else {
      rows.add(new NewOrder(order, sale, null));
      candidates.add(order);
    }
  }

  /** One statement per order: its affected-row count shows whether it was refused (facts.md 28). */
  private List<OrderMessage> raiseQuotas() {
    List<OrderMessage> raised = new ArrayList<>(candidates.size());
    List<OrderMessage> refused = new ArrayList<>();
    for (OrderMessage order : candidates) {
      if (!SaleRules.of(rules, order).keepsQuota() || raise(order)) {
        raised.add(order);
      } else {
        refused.add(order);
        quotaRefused(order);
      }
    }
    OrderTable.reject(jdbc, refused, RejectReason.QUOTA_EXCEEDED);
    return raised;
  }

  private boolean raise(OrderMessage order) {
    int limit = SaleRules.of(rules, order).limit();
    return QuotaTable.raise(jdbc, order.userId(), order.skuId(), order.quantity(), limit) > 0;
  }

  /** Redis had too low a quota count: its stock gets the units back, its quota stays raised. */
  private void quotaRefused(OrderMessage order) {
    tally.add(order, OrderFate.REJECTED);
    compensate(order, order.quantity(), 0);
    outcomes.add(new Rejected(order, RejectReason.QUOTA_EXCEEDED));
  }

  /** First come, first served: in the order of the SKU's admission sequence. */
  private void takeStock(List<OrderMessage> orders) {
    if (orders.isEmpty()) {
      return;
    }
    Set<Long> skus = new HashSet<>();
    orders.forEach(order -> skus.add(order.skuId()));
    Map<Long, Long> left = ProductTable.lockStock(jdbc, skus);
    List<OrderMessage> refused = new ArrayList<>();
    for (OrderMessage order : orders.stream().sorted(BY_SEQ).toList()) {
      long stock = left.getOrDefault(order.skuId(), 0L);
      if (stock >= order.quantity()) {
        left.put(order.skuId(), stock - order.quantity());
        tally.add(order, OrderFate.CONFIRMED);
        outcomes.add(new Stored(order));
      } else {
        refused.add(order);
        soldOut(order);
      }
    }
    OrderTable.reject(jdbc, refused, RejectReason.SOLD_OUT);
  }

  /** Redis had more stock than MySQL: returns the units to the quota, not to the stock of Redis. */
  private void soldOut(OrderMessage order) {
    int quotaUnits = quotaUnits(order);
    if (quotaUnits > 0) {
      QuotaTable.lower(jdbc, order.userId(), order.skuId(), quotaUnits);
      compensate(order, 0, quotaUnits);
    }
    tally.add(order, OrderFate.REJECTED);
    outcomes.add(new Rejected(order, RejectReason.SOLD_OUT));
  }

  private int quotaUnits(OrderMessage order) {
    return SaleRules.of(rules, order).keepsQuota() ? order.quantity() : 0;
  }

  private void compensate(OrderMessage order, int stockUnits, int quotaUnits) {
    toCompensate.add(
        new Compensation(
            order.orderId(),
            order.skuId(),
            order.userId(),
            order.epoch(),
            stockUnits,
            quotaUnits,
            order.requestId()));
  }
}
