package io.seckill.consumer.wallet;

import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.SimplePropertyRowMapper;

/**
 * Checks wallets in one snapshot: each balance against its entries, and as a whole also charges and
 * orders that are paid by wallets. For one run and thread.
 */
final class WalletChecker {

  private static final int PAGE = 500;
  private static final int ENTRIES = 2_000;

  private static final String WALLETS =
      "SELECT user_id, balance_cents, seq, verified_seq, state FROM wallet";

  private final JdbcOperations snapshot;
  private final boolean whole;
  private final WalletDifferences differences = new WalletDifferences();
  private final Set<Long> frozen = new HashSet<>();
  private long wallets;
  private long entries;

  /** The latest user who has entries and no wallet. */
  private long withoutWallet;

  /**
   * @param snapshot of a transaction with REPEATABLE READ
   * @param whole whether all wallets and entries are read, and not only those after the verified
   *     ones
   */
  WalletChecker(JdbcOperations snapshot, boolean whole) {
    this.snapshot = snapshot;
    this.whole = whole;
  }

  private record Checked(
      long userId, long balanceCents, long seq, long verifiedSeq, WalletState state) {}

  private record Entry(
      long userId,
      long seq,
      WalletKind kind,
      long amountCents,
      long balanceAfter,
      @Nullable Long chargeId) {}

  /** How far the entries of a wallet are read; the last verified one is where they begin. */
  private static final class EntriesRead {
    private final Checked wallet;
    private long next;
    private @Nullable Long balance;

    EntriesRead(Checked wallet, long verifiedSeq) {
      this.wallet = wallet;
      this.next = Math.max(1, verifiedSeq);
      this.balance = verifiedSeq == 0 ? 0L : null;
    }
  }

  /**
   * @param verified receives the last entries of wallets with new ones and without a difference, by
   *     user, in pages
   * @param stepEnds called after each page, also one of many entries
   */
  WalletChecker run(Consumer<Map<Long, Long>> verified, Runnable stepEnds) {
    ChargeChecker charges = new ChargeChecker(snapshot, differences, stepEnds);
    long after = 0;
    List<Checked> page;
    do {
      page = page(after);
      check(page, after, charges, stepEnds);
      verified.accept(
          page.stream()
              .filter(each -> each.seq() > each.verifiedSeq())
              .filter(each -> !differences.users().contains(each.userId()))
              .collect(Collectors.toMap(Checked::userId, Checked::seq)));
      after = page.isEmpty() ? after : page.get(page.size() - 1).userId();
      stepEnds.run();
    } while (page.size() == PAGE);
    if (whole) {
      charges.checkOrders();
      charges.checkPayments();
    }
    return this;
  }

  private List<Checked> page(long after) {
    return snapshot.query(
        whole
            ? WALLETS + " WHERE user_id > ? ORDER BY user_id LIMIT ?"
            : WALLETS
                + " FORCE INDEX (ix_wallet_unverified) WHERE unverified = TRUE AND user_id > ?"
                + " ORDER BY user_id LIMIT ?",
        new SimplePropertyRowMapper<>(Checked.class),
        after,
        PAGE);
  }

  private void check(List<Checked> page, long after, ChargeChecker charges, Runnable stepEnds) {
    Map<Long, EntriesRead> all = new LinkedHashMap<>();
    SortedMap<Long, Long> begun = new TreeMap<>();
    for (Checked wallet : page) {
      EntriesRead read = new EntriesRead(wallet, whole ? 0 : wallet.verifiedSeq());
      all.put(wallet.userId(), read);
      if (!whole) {
        begun.put(wallet.userId(), read.next);
      }
      if (wallet.state() == WalletState.FROZEN) {
        frozen.add(wallet.userId());
      }
    }
    long last = page.size() < PAGE ? Long.MAX_VALUE : page.get(PAGE - 1).userId();
    long above = after;
    List<Entry> batch;
    do {
      batch = entries(begun, above, last);
      batch.forEach(entry -> check(entry, all.get(entry.userId()), charges));
      if (batch.size() == ENTRIES) {
        Entry latest = batch.get(ENTRIES - 1);
        above = latest.userId();
        begun.headMap(above).clear();
        begun.put(above, latest.seq() + 1);
        stepEnds.run();
      }
    } while (batch.size() == ENTRIES);
    all.values().forEach(this::checkEnd);
    charges.endEntries();
    wallets += page.size();
  }

  /**
   * A page of entries. House accounts have the opposite of all entries. A balance is the sum of its
   * entries, so all accounts have 0 unless a user has entries and no wallet: a whole check reads
   * the entries of all users up to the last one.
   *
   * @param begun the first entry to read of these users
   * @param after user whose successors are read from their first entry, in a whole check
   */
  private List<Entry> entries(SortedMap<Long, Long> begun, long after, long last) {
    List<String> ranges =
        new ArrayList<>(Collections.nCopies(begun.size(), "user_id = ? AND seq >= ?"));
    List<Object> values = new ArrayList<>();
    begun.forEach((user, seq) -> values.addAll(List.of(user, seq)));
    if (whole) {
      ranges.add("user_id > ? AND user_id <= ?");
      values.addAll(List.of(after, last));
    }
    if (ranges.isEmpty()) {
      return List.of();
    }
    values.add(ENTRIES);
    return snapshot.query(
        "SELECT user_id, seq, kind, amount_cents, balance_after, charge_id"
            + " FROM wallet_entry FORCE INDEX (PRIMARY) WHERE "
            + String.join(" OR ", ranges)
            + " ORDER BY user_id, seq LIMIT ?",
        new SimplePropertyRowMapper<>(Entry.class),
        values.toArray());
  }

  private void check(Entry entry, @Nullable EntriesRead read, ChargeChecker charges) {
    long user = entry.userId();
    if (read == null) {
      if (user != withoutWallet) { // its row is to be restored, not made and frozen
        differences.add("user " + user + " has entries and no wallet");
      }
      withoutWallet = user;
      return;
    }
    if (entry.seq() != read.next) {
      differences.add(user, "entry " + read.next + " is missing");
    }
    if (read.balance != null) {
      entries++;
      checkEntry(user, read.balance, entry);
      if (whole && entry.chargeId() != null) {
        charges.add(user, entry.chargeId(), entry.kind(), entry.amountCents());
      }
    }
    read.balance = entry.balanceAfter();
    read.next = entry.seq() + 1;
  }

  private void checkEnd(EntriesRead read) {
    Checked wallet = read.wallet;
    long last = read.next - 1;
    if (last != wallet.seq()) {
      differences.add(
          wallet.userId(), "seq %d, but the last entry is %d".formatted(wallet.seq(), last));
    }
    long balance = read.balance == null ? 0 : read.balance;
    if (balance != wallet.balanceCents()) {
      differences.add(
          wallet.userId(),
          "balance %d, but %d after the last entry".formatted(wallet.balanceCents(), balance));
    }
  }

  private void checkEntry(long userId, long balance, Entry entry) {
    boolean isCharge = entry.kind() == WalletKind.CHARGE;
    if (entry.kind() != WalletKind.ADJUST && isCharge != entry.amountCents() < 0) {
      differences.add(
          userId, "entry %d, %s of %d".formatted(entry.seq(), entry.kind(), entry.amountCents()));
    }
    if (entry.balanceAfter() != balance + entry.amountCents()) {
      differences.add(
          userId,
          "entry %d leaves %d, not %d"
              .formatted(entry.seq(), entry.balanceAfter(), balance + entry.amountCents()));
    }
  }

  long wallets() {
    return wallets;
  }

  long entries() {
    return entries;
  }

  WalletDifferences differences() {
    return differences;
  }

  /**
   * Users with a difference. Not those of frozen wallets: an operator may have restored one since
   * the snapshot, and set it ACTIVE.
   */
  List<Long> toFreeze() {
    return differences.users().stream().filter(user -> !frozen.contains(user)).toList();
  }
}
