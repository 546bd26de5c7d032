package io.seckill.support.contract;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.ser.std.ToStringSerializer;

/**
 * A page of a wallet's entries, newest first.
 *
 * @param next value of {@code before} for the next page; null on the last page
 */
public record WalletEntries(List<WalletEntryRow> entries, @Nullable Long next) {

  public WalletEntries {
    entries = List.copyOf(entries);
  }

  /**
   * An entry of a wallet; it never changes.
   *
   * @param seq 1, 2, 3 … of the user, without a gap
   * @param amountCents signed change of the balance
   * @param chargeId of CHARGE and REFUND
   */
  public record WalletEntryRow(
      long seq,
      WalletKind kind,
      long amountCents,
      long balanceAfterCents,
      String requestId,
      @JsonSerialize(using = ToStringSerializer.class) @Nullable Long chargeId,
      @Nullable String reason,
      Instant createdAt) {}

  /**
   * A page of a statement: entries of some days, oldest first.
   *
   * @param openingCents the balance before the first of these entries
   * @param next value of {@code after} for the next page; null on the last page
   */
  public record WalletStatement(
      long openingCents, List<WalletEntryRow> entries, @Nullable Long next) {

    public WalletStatement {
      entries = List.copyOf(entries);
    }
  }
}
