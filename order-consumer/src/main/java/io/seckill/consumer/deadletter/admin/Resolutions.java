package io.seckill.consumer.deadletter.admin;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.internal.Operator;
import io.seckill.consumer.internal.ProblemException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Resolves dead letters, one operator at a time for each: the row is locked while its message is
 * published or its order discarded. The row is updated after the action, so that a crash in between
 * can only lead to repeating the action; a second replay or discard of an order has no effect.
 */
@Component
class Resolutions {

  private final Letters letters;
  private final Replays replays;
  private final Discards discards;
  private final TransactionOperations transactions;

  Resolutions(
      Letters letters, Replays replays, Discards discards, TransactionOperations transactions) {
    this.letters = letters;
    this.replays = replays;
    this.discards = discards;
    this.transactions = transactions;
  }

  /**
   * Sends the message through all guards again; repeating the call sends nothing.
   *
   * @throws ProblemException 404, 409 DEAD_LETTER_RESOLVED when it was discarded, and as {@link
   *     Replays#publish}
   */
  Letter replay(long id, Operator operator) {
    transactions.executeWithoutResult(
        tx -> {
          Letters.Message letter = letters.lock(id);
          if (isOpen(letter, LetterState.REPLAYED)) {
            replays.publish(letter);
            letters.resolve(id, LetterState.REPLAYED, operator, null);
          }
        });
    return letters.show(id);
  }

  /**
   * Gives up on the order; repeating the call changes nothing.
   *
   * @throws ProblemException 404, 409 DEAD_LETTER_RESOLVED when it was replayed, 503 when MySQL
   *     cannot decide now
   */
  Letter discard(long id, String reason, Operator operator) {
    transactions.executeWithoutResult(
        tx -> {
          Letters.Message letter = letters.lock(id);
          if (isOpen(letter, LetterState.DISCARDED)) {
            OrderMessage order = letter.order();
            if (order != null) {
              discards.reject(order);
            }
            letters.resolve(id, LetterState.DISCARDED, operator, reason);
          }
        });
    return letters.show(id);
  }

  /**
   * @return false when there is nothing left to do
   */
  private static boolean isOpen(Letters.Message letter, LetterState wanted) {
    if (letter.state() != LetterState.OPEN && letter.state() != wanted) {
      throw ProblemException.conflict(
          "DEAD_LETTER_RESOLVED", "The dead letter is " + letter.state() + " already.");
    }
    return letter.state() == LetterState.OPEN;
  }
}
