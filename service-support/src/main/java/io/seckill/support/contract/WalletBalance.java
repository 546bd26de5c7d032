package io.seckill.support.contract;

import io.seckill.support.web.RequestChecks;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.ser.std.ToStringSerializer;

/**
 * A wallet, as its owner sees it: a browser would change a larger id than 2^53. A user without one
 * has balance 0, ACTIVE, seq 0.
 *
 * @param balanceCents 0..10^17 minor units
 * @param currency ISO 4217 code of all wallets
 * @param seq number of the latest entry
 */
public record WalletBalance(
    @JsonSerialize(using = ToStringSerializer.class) long userId,
    long balanceCents,
    String currency,
    WalletState state,
    long seq) {

  /** The most that a wallet holds, in minor units. */
  public static final long MAX_BALANCE_CENTS = 100_000_000_000_000_000L;

  public enum WalletState {
    ACTIVE,
    /** Refuses charges; money comes in and is refunded. */
    FROZEN
  }

  /**
   * The state that a wallet shall have.
   *
   * @param state ACTIVE or FROZEN
   */
  public record WalletStateRequest(String state) {

    public WalletStateRequest {
      RequestChecks.oneOf("state", state, WalletState.class);
    }
  }
}
