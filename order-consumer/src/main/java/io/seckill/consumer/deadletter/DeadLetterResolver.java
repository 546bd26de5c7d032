package io.seckill.consumer.deadletter;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.OrderStore;
import io.seckill.consumer.storage.StoredBatch;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Resolves dead letters, one operator at a time for each: the row is locked while its message is
 * published or its order discarded. The row is updated after the action, so that a crash in between
 * can only lead to repeating the action; a second replay or discard of an order has no effect.
 */
@Component
record DeadLetterResolver(
    DeadLetters deadLetters,
    DeadLetterTable table,
    DeadLetterPublisher publisher,
    OrderStore store,
    OrderResults results,
    Compensations compensations,
    TransactionOperations transactions) {

  private static final Logger log = LoggerFactory.getLogger(DeadLetterResolver.class);

  /** Throws ProblemException 404 UNKNOWN_DEAD_LETTER. */
  DeadLetterRecord show(long id) {
    return required(deadLetters.findById(id));
  }

  private static DeadLetterRecord required(Optional<DeadLetterRecord> found) {
    return found.orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_DEAD_LETTER));
  }

  /**
   * Sends the message through all guards again; repeating the call sends nothing.
   *
   * @throws ProblemException 404, 409 DEAD_LETTER_RESOLVED when it was discarded, and as {@link
   *     DeadLetterPublisher#replay}
   */
  DeadLetterRecord replay(long id, Operator operator) {
    transactions.executeWithoutResult(
        tx -> {
          DeadLetterRecord letter = required(deadLetters.lock(id));
          if (isOpen(letter, DeadLetterState.REPLAYED)) {
            publisher.replay(letter);
            letter.resolve(DeadLetterState.REPLAYED, operator, null);
          }
        });
    return show(id);
  }

  /**
   * Gives up on the order; repeating the call changes nothing. One of a strong sale is not stored
   * as rejected: no store has taken anything for it, and its key may be that of a real purchase.
   *
   * @throws ProblemException 404, 409 DEAD_LETTER_RESOLVED when it was replayed, 503 when MySQL
   *     cannot decide now
   */
  DeadLetterRecord discard(long id, String reason, Operator operator) {
    transactions.executeWithoutResult(
        tx -> {
          DeadLetterRecord letter = required(deadLetters.lock(id));
          if (isOpen(letter, DeadLetterState.DISCARDED)) {
            OrderMessage order = letter.order();
            if (order != null && !table.isOfStrongSale(order.skuId())) {
              reject(order);
            }
            letter.resolve(DeadLetterState.DISCARDED, operator, reason);
          }
        });
    return show(id);
  }

  /** Stores the order as REJECTED and returns its units; may be repeated. */
  private void reject(OrderMessage order) {
    StoredBatch batch = discarded(order);
    // Null when MySQL has a different order with this id: its result is written already.
    OrderResult result = batch.outcomes().get(0).result();
    // While a compensation is pending, the sweep of compensations writes its result again.
    if (results.write(result == null ? List.of() : List.of(result), batch.progress())) {
      compensations.deliver(batch.compensations());
    }
  }

  private StoredBatch discarded(OrderMessage order) {
    try {
      return store.discard(order);
    } catch (DatabaseUnavailableException e) {
      log.warn("Cannot discard order {}: {}", order.orderId(), e.toString());
      throw ProblemException.of(
          ProblemCode.UNAVAILABLE, "The database cannot decide now; send the same request again.");
    }
  }

  /** Returns false when there is nothing left to do. */
  private static boolean isOpen(DeadLetterRecord letter, DeadLetterState wanted) {
    if (letter.state() != DeadLetterState.OPEN && letter.state() != wanted) {
      throw ProblemException.of(
          ProblemCode.DEAD_LETTER_RESOLVED, "The dead letter is " + letter.state() + " already.");
    }
    return letter.state() == DeadLetterState.OPEN;
  }
}
