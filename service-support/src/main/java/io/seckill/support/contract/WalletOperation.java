package io.seckill.support.contract;

import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.SingleLine;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One movement of money of a wallet. A repeat with the same user and request id has no effect; it
 * is a repeat only if everything else is equal, too, except the reason.
 *
 * @param requestId idempotency key, never forgotten. Keys with a colon are order-consumer's own
 * @param amountCents 1..10^16 minor units; negative as well for ADJUST
 * @param chargeId of CHARGE and REFUND, else null; that of an order is the order id, and other
 *     services choose ids that no order has
 * @param reason on one line, for people; null for none
 */
public record WalletOperation(
    long userId,
    WalletKind kind,
    String requestId,
    long amountCents,
    @Nullable Long chargeId,
    @Nullable String reason) {

  /** The most that one operation moves, in minor units. */
  public static final long MAX_AMOUNT_CENTS = 10_000_000_000_000_000L;

  private static final int MAX_REASON = 100;

  private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9_:-]{8,64}");

  /** Throws ProblemException 400 naming the invalid member. */
  public WalletOperation {
    RequestChecks.integer("userId", userId, 1, Long.MAX_VALUE);
    if (kind == null) {
      throw ProblemException.invalid("kind", "kind is missing.");
    }
    if (requestId == null || !REQUEST_ID.matcher(requestId).matches()) {
      throw ProblemException.invalid("requestId", "requestId must match [A-Za-z0-9_-]{8,64}.");
    }
    boolean corrects = kind == WalletKind.ADJUST;
    RequestChecks.integer(
        "amountCents", amountCents, corrects ? -MAX_AMOUNT_CENTS : 1, MAX_AMOUNT_CENTS);
    if (amountCents == 0) {
      throw ProblemException.invalid("amountCents", "amountCents must not be 0.");
    }
    if (kind == WalletKind.CHARGE || kind == WalletKind.REFUND) {
      RequestChecks.integer("chargeId", chargeId, 1, Long.MAX_VALUE);
    } else if (chargeId != null) {
      throw ProblemException.invalid("chargeId", "chargeId is only of CHARGE and REFUND.");
    }
    reason = reason == null ? null : SingleLine.checked("reason", reason, MAX_REASON);
  }

  public long signedCents() {
    return kind == WalletKind.CHARGE ? -amountCents : amountCents;
  }
}
