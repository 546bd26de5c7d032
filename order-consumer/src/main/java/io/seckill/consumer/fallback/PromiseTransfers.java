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
import java.util.stream.Collectors;
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
    Set<Long> failed =
        outcomes.stream()
            .filter(Failed.class::isInstance)
            .map(outcome -> outcome.order().orderId().value())
            .collect(Collectors.toSet());
    if (!failed.isEmpty() && !areDeadLetters(failed)) {
      throw again();
    }
  }

  /** MySQL may never take them: operators decide on these orders, whose units stay reserved. */
  private boolean areDeadLetters(Set<Long> orders) {
    return jdbc.sql(DEAD_LETTERS).param("ids", orders).query(Long.class).set().containsAll(orders);
  }

  private List<StoreOutcome> stored(List<OrderMessage> orders) {
    try {
      return store.store(orders).outcomes();
    } catch (DatabaseUnavailableException e) {
      log.warn("Promised orders are not stored yet: {}", e.toString());
      throw again();
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
