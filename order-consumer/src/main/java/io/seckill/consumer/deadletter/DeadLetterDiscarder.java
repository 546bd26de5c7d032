package io.seckill.consumer.deadletter;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.RejectReason;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StoreOutcome.Alias;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Rejected;
import io.seckill.consumer.storage.StoredBatch;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Stores the order of a dead letter as REJECTED and returns its units. May be repeated. */
@Component
class DeadLetterDiscarder {

  private static final Logger log = LoggerFactory.getLogger(DeadLetterDiscarder.class);

  private final OrderStore store;
  private final Compensations compensations;
  private final OrderResults results;

  DeadLetterDiscarder(OrderStore store, Compensations compensations, OrderResults results) {
    this.store = store;
    this.compensations = compensations;
    this.results = results;
  }

  /**
   * @throws ProblemException 503 when MySQL cannot decide now
   */
  void reject(OrderMessage order) {
    StoredBatch batch = stored(order);
    StoreOutcome outcome = batch.outcomes().get(0);
    if (outcome instanceof Failed failed) {
      log.warn("Cannot discard order {}: {}", order.orderId(), failed.detail());
      throw unavailable();
    }
    results.write(
        result(order, outcome).map(List::of).orElse(List.of()),
        batch.progress(),
        batch.settledNow());
    compensations.deliver(batch.compensations());
  }

  private StoredBatch stored(OrderMessage order) {
    try {
      return store.discard(order);
    } catch (DatabaseUnavailableException e) {
      log.warn("Cannot discard order {}: {}", order.orderId(), e.toString());
      throw unavailable();
    }
  }

  /** Empty when MySQL has a different order with this id: its result is written already. */
  private static Optional<OrderResult> result(OrderMessage order, StoreOutcome outcome) {
    if (outcome instanceof Rejected) {
      return Optional.of(
          OrderResult.rejected(
              order.orderId(), order.skuId(), order.userId(), RejectReason.DISCARDED));
    } else if (outcome instanceof Known known) {
      return Optional.of(
          new OrderResult(
              order.orderId(),
              order.skuId(),
              order.userId(),
              known.status(),
              known.reason(),
              null));
    } else if (outcome instanceof Alias alias) {
      return Optional.of(
          OrderResult.alias(order.orderId(), order.skuId(), order.userId(), alias.stored()));
    }
    return Optional.empty();
  }

  private static ProblemException unavailable() {
    return ProblemException.unavailable(
        "The database cannot decide now; send the same request again.");
  }
}
