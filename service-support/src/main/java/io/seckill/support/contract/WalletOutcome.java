package io.seckill.support.contract;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import org.jspecify.annotations.Nullable;

/**
 * What became of an operation.
 *
 * @param seq of its entry; null when there is none
 * @param balanceAfterCents of its entry; null as well
 */
public record WalletOutcome(WalletCode code, @Nullable Long seq, @Nullable Long balanceAfterCents) {

  /** DONE, REPEATED, or a problem: then nothing was done, except maybe for WALLET_UNAVAILABLE. */
  public enum WalletCode {
    DONE,
    /** The entry under the same key was made before, with the same parameters. */
    REPEATED,
    UNKNOWN_CHARGE,
    INSUFFICIENT_FUNDS,
    /** Only charges are refused. */
    WALLET_FROZEN,
    BALANCE_LIMIT,
    REFUND_EXCEEDS_CHARGE,
    CHARGE_CLOSED,
    /** The user's key has an entry with other parameters, or the charge id another charge. */
    IDEMPOTENCY_KEY_REUSED,
    /** Too many conflicts or requests. */
    BUSY,
    /** MySQL has failed: a repeat with the same key returns the outcome. */
    WALLET_UNAVAILABLE
  }

  public WalletOutcome {
    if (code == null || (seq == null) != (balanceAfterCents == null)) {
      throw new IllegalArgumentException("an outcome lacks a member");
    }
  }

  public static WalletOutcome of(WalletCode problem) {
    return new WalletOutcome(problem, null, null);
  }

  /**
   * Returns whether it was done now, and not before.
   *
   * @throws ProblemException when it was not done
   */
  public boolean doneNow() {
    return switch (code) {
      case DONE -> true;
      case REPEATED -> false;
      default -> throw ProblemException.of(ProblemCode.valueOf(code.name()));
    };
  }
}
