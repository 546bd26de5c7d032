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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Stores the promises of gateways, at any time and any number of times: an order that its message
 * has brought meanwhile is known. Redis gets it from the message, or gets all of it when the sale
 * returns. Thread-safe.
 */
@Component
class PromiseTransfers {

  private static final Logger log = LoggerFactory.getLogger(PromiseTransfers.class);

  private final OrderStore store;
  private final AdmittedUnitsTable admissions;
  private final GatewayTable gateways;
  private final ConnectionShare connections =
      new ConnectionShare(ConnectionPools.PROMISE_TRANSFERS);

  PromiseTransfers(OrderStore store, AdmittedUnitsTable admissions, GatewayTable gateways) {
    this.store = store;
    this.admissions = admissions;
    this.gateways = gateways;
  }

  /**
   * @throws ProblemException 503 when not all of it is stored; the same transfer is to be sent
   *     again
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
    connections.within(() -> stored(orders)).forEach(PromiseTransfers::check);
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
  private static void check(StoreOutcome outcome) {
    if (outcome instanceof Unstorable unstorable) {
      log.error(
          "a promised order cannot be stored: {}: {}", unstorable.order(), unstorable.detail());
    } else if (outcome instanceof Failed) {
      throw again();
    }
  }

  private static ProblemException again() {
    return ProblemException.of(
        ProblemCode.UNAVAILABLE, "Not all orders are stored; send the same request again.");
  }
}
