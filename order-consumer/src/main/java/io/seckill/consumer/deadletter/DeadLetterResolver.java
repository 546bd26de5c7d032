package io.seckill.consumer.deadletter;

import io.seckill.common.order.OrderMessage;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Resolves dead letters, one operator at a time for each: the row is locked while its message is
 * published or its order discarded. The row is updated after the action, so that a crash in between
 * can only lead to repeating the action; a second replay or discard of an order has no effect.
 */
@Component
class DeadLetterResolver {

  private final DeadLetterRecords deadLetters;
  private final DeadLetterReplayer replayer;
  private final DeadLetterDiscarder discarder;
  private final TransactionOperations transactions;

  DeadLetterResolver(
      DeadLetterRecords deadLetters,
      DeadLetterReplayer replayer,
      DeadLetterDiscarder discarder,
      TransactionOperations transactions) {
    this.deadLetters = deadLetters;
    this.replayer = replayer;
    this.discarder = discarder;
    this.transactions = transactions;
  }

  /**
   * Sends the message through all guards again; repeating the call sends nothing.
   *
   * @throws ProblemException 404, 409 DEAD_LETTER_RESOLVED when it was discarded, and as {@link
   *     DeadLetterReplayer#publish}
   */
  DeadLetterRecord replay(long id, Operator operator) {
    transactions.executeWithoutResult(
        tx -> {
          DeadLetterRecords.Message letter = deadLetters.lock(id);
          if (isOpen(letter, DeadLetterState.REPLAYED)) {
            replayer.publish(letter);
            deadLetters.resolve(id, DeadLetterState.REPLAYED, operator, null);
          }
        });
    return deadLetters.show(id);
  }

  /**
   * Gives up on the order; repeating the call changes nothing.
   *
   * @throws ProblemException 404, 409 DEAD_LETTER_RESOLVED when it was replayed, 503 when MySQL
   *     cannot decide now
   */
  DeadLetterRecord discard(long id, String reason, Operator operator) {
    transactions.executeWithoutResult(
        tx -> {
          DeadLetterRecords.Message letter = deadLetters.lock(id);
          if (isOpen(letter, DeadLetterState.DISCARDED)) {
            OrderMessage order = letter.order();
            if (order != null) {
              discarder.reject(order);
            }
            deadLetters.resolve(id, DeadLetterState.DISCARDED, operator, reason);
          }
        });
    return deadLetters.show(id);
  }

  /**
   * @return false when there is nothing left to do
   */
  private static boolean isOpen(DeadLetterRecords.Message letter, DeadLetterState wanted) {
    if (letter.state() != DeadLetterState.OPEN && letter.state() != wanted) {
      throw ProblemException.conflict(
          "DEAD_LETTER_RESOLVED", "The dead letter is " + letter.state() + " already.");
    }
    return letter.state() == DeadLetterState.OPEN;
  }
}
