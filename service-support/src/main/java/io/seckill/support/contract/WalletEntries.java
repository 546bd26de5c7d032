package io.seckill.support.contract;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of a wallet's entries.
 *
 * @param next value of {@code before} (newest first) or {@code after} (oldest first) for the next
 *     page; null on the last page
 */
public record WalletEntries(List<WalletEntryRow> entries, @Nullable Long next) {

  public WalletEntries {
    entries = List.copyOf(entries);
  }
}
