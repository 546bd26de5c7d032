package io.seckill.consumer.wallet;

import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletEntryRow;
import io.seckill.support.contract.WalletStatement;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Statements of wallets on the internal port. Entries are numbered in the order of their times, so
 * the first and the last one of a period are found by some twenty reads of one row, no matter how
 * many entries the wallet has.
 */
@RestController
class WalletStatements {

  private static final int PAGE = 500;

  private final JdbcOperations jdbc;

  WalletStatements(JdbcOperations jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * A page of the days from..to of UTC, both included.
   *
   * @param after next of the page before
   */
  @GetMapping("/internal/v1/wallets/{user}/statement")
  WalletStatement page(
      @PathVariable String user,
      @RequestParam(required = false) @Nullable String from,
      @RequestParam(required = false) @Nullable String to,
      @RequestParam(required = false) @Nullable String after) {
    long userId = PathIds.number("user", user);
    LocalDate first = PathIds.day("from", from);
    LocalDate last = PathIds.day("to", to);
    if (last.isBefore(first)) {
      throw ProblemException.invalid("to", "to must not be before from.");
    }
    long end = latestBefore(last.plusDays(1), userId);
    long start = after == null ? latestBefore(first, userId) : PathIds.number("after", after);
    return page(userId, start, end);
  }

  /** The entries after one number up to another. */
  private WalletStatement page(long userId, long start, long end) {
    long last = start < end ? Math.min(end, start + PAGE) : start;
    List<WalletEntryRow> entries =
        last == start
            ? List.of()
            : new ArrayList<>(
                WalletTable.before(jdbc, userId, last + 1, Math.toIntExact(last - start)));
    Collections.reverse(entries);
    return new WalletStatement(balanceAfter(userId, start), entries, last < end ? last : null);
  }

  private long balanceAfter(long userId, long seq) {
    return latestUpTo(userId, seq).stream().mapToLong(WalletEntryRow::balanceAfterCents).sum();
  }

  /** Number of the last entry made before a day begins; 0 when there is none. */
  private long latestBefore(LocalDate day, long userId) {
    Instant begin = day.atStartOfDay(ZoneOffset.UTC).toInstant();
    long latest =
        WalletTable.find(jdbc, List.of(userId)).values().stream().mapToLong(WalletRow::seq).sum();
    return last(
        latest,
        seq ->
            latestUpTo(userId, seq).stream().allMatch(entry -> entry.createdAt().isBefore(begin)));
  }

  /** One entry; empty before the first. */
  private List<WalletEntryRow> latestUpTo(long userId, long seq) {
    return WalletTable.before(jdbc, userId, seq + 1, 1);
  }

  /**
   * The last number, 1..most, for which this is true; it is true up to there. 0 if it is for none.
   */
  static long last(long most, LongPredicate isTrue) {
    long low = 0;
    long high = most;
    while (low < high) {
      long middle = high - (high - low) / 2;
      if (isTrue.test(middle)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
