package io.seckill.consumer.wallet;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletEntries;
import io.seckill.support.contract.WalletEntries.WalletEntryRow;
import io.seckill.support.contract.WalletEntries.WalletStatement;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.web.DemoMode;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;

/** Shows wallets and freezes them; in demo mode gives new users money to spend. */
@Component
class WalletAccounts {

  /** No caller can use this key. */
  private static final String DEMO_KEY = "demo:balance";

  private static final long DEMO_CENTS = 10_000_000;

  /** Entries of a page of a statement. */
  private static final int PAGE = 500;

  private final JdbcOperations jdbc;
  private final Wallets wallets;
  private final WalletProperties properties;
  private final boolean isDemo;

  WalletAccounts(
      JdbcOperations jdbc,
      Wallets wallets,
      WalletProperties properties,
      DemoMode demo,
      Environment environment,
      ServerProperties server) {
    this.jdbc = jdbc;
    this.wallets = wallets;
    this.properties = properties;
    this.isDemo = demo.enabled();
    if (isDemo) {
      check(
          !environment.matchesProfiles("prod", "production"),
          "seckill.demo.enabled gives money to everybody, not under a production profile");
      demo.checkAddress(server.getAddress(), "server.address");
    }
  }

  /** The balance as it is shown to its owner, who in demo mode may get one by it. */
  WalletBalance balance(long userId) {
    var unused = begin(List.of(userId));
    WalletRow row = wallet(userId);
    return new WalletBalance(
        userId, row.balanceCents(), properties.currency(), row.state(), row.seq());
  }

  private WalletRow wallet(long userId) {
    return WalletTable.find(jdbc, List.of(userId)).getOrDefault(userId, WalletRow.none(userId));
  }

  /**
   * In demo mode, gives the users without an entry money, also those who were frozen first. Returns
   * whether there were any.
   */
  boolean begin(Collection<Long> users) {
    if (!isDemo) {
      return false;
    }
    Set<Long> others = new TreeSet<>(users);
    WalletTable.find(jdbc, users).values().stream()
        .filter(wallet -> wallet.seq() > 0)
        .forEach(wallet -> others.remove(wallet.userId()));
    if (!others.isEmpty()) {
      wallets.execute(others.stream().map(WalletAccounts::gift).toList());
    }
    return !others.isEmpty();
  }

  private static WalletOperation gift(long userId) {
    return new WalletOperation(userId, WalletKind.RECHARGE, DEMO_KEY, DEMO_CENTS, null, "demo");
  }

  /**
   * @param before number of an entry; older ones are returned
   */
  WalletEntries newestFirst(long userId, long before, int limit) {
    List<WalletEntryRow> page = WalletTable.before(jdbc, userId, before, limit);
    long last = page.size() < limit ? 1 : page.get(limit - 1).seq();
    return new WalletEntries(page, last > 1 ? last : null);
  }

  /**
   * A page of the entries of some days. Entries are numbered in the order of their times, so some
   * twenty reads of one row find the first and the last one, no matter how many the wallet has.
   *
   * @param last included, too
   * @param after next of the page before; null for the first page
   */
  WalletStatement statement(long userId, LocalDate first, LocalDate last, @Nullable Long after) {
    if (last.isBefore(first)) {
      throw ProblemException.invalid("to", "to must not be before from.");
    }
    long end = latestBefore(last.plusDays(1), userId);
    long start = after == null ? latestBefore(first, userId) : after;
    long pageEnd = Math.max(start, Math.min(end, start + PAGE));
    List<WalletEntryRow> entries =
        new ArrayList<>(
            WalletTable.before(jdbc, userId, pageEnd + 1, Math.toIntExact(pageEnd - start)));
    Collections.reverse(entries);
    long opening =
        latestUpTo(userId, start).stream().mapToLong(WalletEntryRow::balanceAfterCents).sum();
    return new WalletStatement(opening, entries, pageEnd < end ? pageEnd : null);
  }

  /** Number of the last entry made before a day begins; 0 when there is none. */
  private long latestBefore(LocalDate day, long userId) {
    Instant begin = day.atStartOfDay(ZoneOffset.UTC).toInstant();
    return last(
        wallet(userId).seq(),
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

  WalletBalance setState(long userId, WalletState state) {
    WalletTable.setState(jdbc, userId, state);
    return balance(userId);
  }

  /** A charge; empty also when it was closed before it was made. Its user never changes. */
  Optional<ChargeRow> find(long chargeId) {
    return Optional.ofNullable(WalletTable.charges(jdbc, List.of(chargeId)).get(chargeId))
        .filter(charge -> charge.amountCents() > 0);
  }
}
