package io.seckill.consumer.fallback;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import io.seckill.support.contract.PromiseTransfer;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Stores the promises of gateways, at any time and any number of times: an order that its message
 * has brought meanwhile is known. Redis gets it from the message, or gets all of it when the sale
 * returns. Thread-safe.
 */
@Component
class PromiseTransfers {

  private static final Logger log = LoggerFactory.getLogger(PromiseTransfers.class);

  /** A replayed dead letter is in flight again, and does not account for its order. */
  private static final String DEAD_LETTERS =
      "SELECT order_id FROM dead_letter WHERE order_id IN (:ids) AND state <> 'REPLAYED'";

  private final OrderStore store;
  private final AdmittedUnitsTable admissions;
  private final GatewayTable gateways;
  private final JdbcClient jdbc;
  private final ConnectionShare connections =
      new ConnectionShare(ConnectionPools.PROMISE_TRANSFERS);

  PromiseTransfers(
      OrderStore store,
      AdmittedUnitsTable admissions,
      GatewayTable gateways,
      FallbackDatabase mysql) {
    this.store = store;
    this.admissions = admissions;
    this.gateways = gateways;
    this.jdbc = mysql.jdbc();
  }

  /**
   * @throws ProblemException 503 when not all of it is stored, or a dead letter; the same transfer
   *     is to be sent again
   */
  void take(String token, PromiseTransfer transfer) {
    if (!transfer.orders().isEmpty()) {
      store(transfer.orders());
    }
    transfer.admitted().forEach(one -> admissions.admitted(one.skuId(), one.epoch(), one.units()));
    transfer.forgotten().forEach(one -> admissions.moreIsUnknown(one.skuId(), one.epoch()));
    if (transfer.isLast()) {
      gateways.transferred(token, transfer.term(), transfer.isComplete());
    }
  }

  private void store(List<OrderMessage> orders) {
    List<StoreOutcome> outcomes = connections.within(() -> stored(orders));
    outcomes.forEach(PromiseTransfers::logUnstorable);
    List<OrderMessage> failed =
        outcomes.stream().filter(Failed.class::isInstance).map(StoreOutcome::order).toList();
    if (!withoutDeadLetters(failed).isEmpty()) {
      throw again();
    }
  }

  /** MySQL may never take them: operators decide on these orders, whose units stay reserved. */
  private List<OrderMessage> withoutDeadLetters(List<OrderMessage> orders) {
    if (orders.isEmpty()) {
      return orders;
    }
    List<Long> ids = orders.stream().map(order -> order.orderId().value()).toList();
    Set<Long> dead = jdbc.sql(DEAD_LETTERS).param("ids", ids).query(Long.class).set();
    return orders.stream().filter(order -> !dead.contains(order.orderId().value())).toList();
  }

  /** Where MySQL refuses the statements of many orders, the store blames none of them. */
  private List<StoreOutcome> stored(List<OrderMessage> orders) {
    try {
      return orders.isEmpty() ? List.of() : store.store(orders).outcomes();
    } catch (DatabaseUnavailableException e) {
      log.warn("Promised orders are not stored yet: {}", e.toString());
      List<OrderMessage> others = withoutDeadLetters(orders);
      if (others.size() == orders.size()) {
        throw again();
      }
      return stored(others);
    }
  }

  /** An order that can never be stored would become a dead letter when its message arrives. */
  private static void logUnstorable(StoreOutcome outcome) {
    if (outcome instanceof Unstorable unstorable) {
      log.error(
          "a promised order cannot be stored: {}: {}", unstorable.order(), unstorable.detail());
    }
  }

  private static ProblemException again() {
    return ProblemException.of(
        ProblemCode.UNAVAILABLE, "Not all orders are stored; send the same request again.");
  }
}
