package io.seckill.support.contract;

import java.util.List;
import org.jspecify.annotations.Nullable;

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
