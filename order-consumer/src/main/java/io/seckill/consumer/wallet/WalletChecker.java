package io.seckill.consumer.wallet;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
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

  private final JdbcOperations snapshot;
  private final boolean whole;
  private final List<String> differences = new ArrayList<>();
  private final Set<Long> users = new TreeSet<>();
  private final Set<Long> frozen = new HashSet<>();
  private long wallets;
  private long entries;
  private long chargedCents;

  /**
   * @param snapshot of a transaction with REPEATABLE READ
   * @param whole whether all entries are read, and not only those after the verified ones
   */
  WalletChecker(JdbcOperations snapshot, boolean whole) {
    this.snapshot = snapshot;
    this.whole = whole;
  }

  /** A wallet, with the balance after its last entry. */
  record Checked(
      long userId,
      long balanceCents,
      long seq,
      long verifiedSeq,
      WalletState state,
      long lastCents) {}

  private record Entry(
      long seq, WalletKind kind, long amountCents, long balanceAfter, @Nullable Long chargeId) {

    long chargedCents() {
      return kind == WalletKind.CHARGE ? -amountCents : 0;
    }

    long refundedCents() {
      return kind == WalletKind.REFUND ? amountCents : 0;
    }
  }

  /**
   * @param verified receives wallets without a difference, in pages
   * @param stepEnds called after each page, also one of a long wallet
   */
  WalletChecker run(Consumer<List<Checked>> verified, Runnable stepEnds) {
    long after = 0;
    List<Checked> page;
    do {
      page = page(after);
      page.forEach(wallet -> check(wallet, stepEnds));
      if (whole) {
        checkGaps(after, page);
      }
      verified.accept(page.stream().filter(each -> !users.contains(each.userId())).toList());
      after = page.isEmpty() ? after : page.get(page.size() - 1).userId();
      stepEnds.run();
    } while (page.size() == PAGE);
    if (whole) {
      checkCharges(stepEnds);
      checkPayments(stepEnds);
    }
    return this;
  }

  private List<Checked> page(long after) {
    return snapshot.query(
        "SELECT w.user_id, w.balance_cents, w.seq, w.verified_seq, w.state,"
            + " COALESCE(e.balance_after, 0) AS last_cents"
            + " FROM (SELECT user_id, balance_cents, seq, verified_seq, state FROM wallet"
            + " WHERE user_id > ? ORDER BY user_id LIMIT ?) w"
            + " LEFT JOIN wallet_entry e ON e.user_id = w.user_id AND e.seq = w.seq"
            + " ORDER BY w.user_id",
        new SimplePropertyRowMapper<>(Checked.class),
        after,
        PAGE);
  }

  /**
   * House accounts have the opposite of all entries. A balance is the sum of its entries, so all
   * accounts have 0 unless a user has entries and no wallet. The first such user of a page is
   * reported, and not frozen: the row is to be restored.
   */
  private void checkGaps(long after, List<Checked> page) {
    List<Object> bounds = new ArrayList<>(List.of(after));
    page.forEach(wallet -> bounds.addAll(List.of(wallet.userId() - 1, wallet.userId())));
    if (page.size() < PAGE) {
      bounds.add(Long.MAX_VALUE);
    } else {
      bounds.remove(bounds.size() - 1);
    }
    String first =
        "SELECT user_id FROM wallet_entry FORCE INDEX (PRIMARY) WHERE "
            + String.join(
                " OR ", Collections.nCopies(bounds.size() / 2, "user_id > ? AND user_id <= ?"))
            + " ORDER BY user_id LIMIT 1";
    snapshot
        .queryForList(first, Long.class, bounds.toArray())
        .forEach(user -> differences.add("user " + user + " has entries and no wallet"));
  }

  private void check(Checked wallet, Runnable stepEnds) {
    wallets++;
    if (wallet.state() == WalletState.FROZEN) {
      frozen.add(wallet.userId());
    }
    if (wallet.balanceCents() != wallet.lastCents()) {
      differs(
          wallet.userId(),
          "balance %d, but %d after the last entry"
              .formatted(wallet.balanceCents(), wallet.lastCents()));
    }
    long from = whole ? 0 : wallet.verifiedSeq();
    if (whole || from != wallet.seq()) {
      checkEntries(wallet, from, stepEnds);
    }
  }

  private void checkEntries(Checked wallet, long from, Runnable stepEnds) {
    BookedCharges charges =
        new BookedCharges(wallet.userId(), ids -> WalletTable.charges(snapshot, ids));
    long expected = Math.max(1, from); // the last verified entry is where the others begin
    Long balance = from == 0 ? 0L : null;
    List<Entry> page;
    do {
      page = entries(wallet.userId(), expected);
      for (Entry entry : page) {
        if (entry.seq() != expected) {
          differs(wallet.userId(), "entry " + expected + " is missing");
        }
        if (balance != null) {
          entries++;
          checkEntry(wallet.userId(), balance, entry);
          if (whole && entry.chargeId() != null) {
            charges.add(entry.chargeId(), entry.chargedCents(), entry.refundedCents());
          }
        }
        balance = entry.balanceAfter();
        expected = entry.seq() + 1;
      }
      if (page.size() == ENTRIES) {
        stepEnds.run();
      }
    } while (page.size() == ENTRIES);
    if (expected - 1 != wallet.seq()) {
      differs(
          wallet.userId(),
          "seq %d, but the last entry is %d".formatted(wallet.seq(), expected - 1));
    }
    charges.compare().forEach(difference -> differs(wallet.userId(), difference));
    chargedCents += charges.equalCents();
  }

  private List<Entry> entries(long userId, long from) {
    return snapshot.query(
        "SELECT seq, kind, amount_cents, balance_after, charge_id FROM wallet_entry"
            + " WHERE user_id = ? AND seq >= ? ORDER BY seq LIMIT ?",
        new SimplePropertyRowMapper<>(Entry.class),
        userId,
        from,
        ENTRIES);
  }

  private void checkEntry(long userId, long balance, Entry entry) {
    boolean isCharge = entry.kind() == WalletKind.CHARGE;
    if (entry.kind() != WalletKind.ADJUST && isCharge != entry.amountCents() < 0) {
      differs(
          userId, "entry %d, %s of %d".formatted(entry.seq(), entry.kind(), entry.amountCents()));
    }
    if (entry.balanceAfter() != balance + entry.amountCents()) {
      differs(
          userId,
          "entry %d leaves %d, not %d"
              .formatted(entry.seq(), entry.balanceAfter(), balance + entry.amountCents()));
    }
  }

  /** Money that was charged for a waiting or ended order is with the house for a while only. */
  private void checkCharges(Runnable stepEnds) {
    long after = 0;
    List<ChargeRow> page;
    do {
      page = WalletTable.chargesAfter(snapshot, after, PAGE);
      page.forEach(charge -> chargedCents -= charge.amountCents());
      List<Long> inForce =
          page.stream().filter(ChargeRow::isInForce).map(ChargeRow::chargeId).toList();
      if (!inForce.isEmpty()) {
        snapshot.query(
            "SELECT o.order_id, o.user_id, o.status FROM orders o LEFT JOIN payment p"
                + " ON p.order_id = o.order_id WHERE o.order_id IN ("
                + Sql.marks(inForce.size())
                + ") AND o.status <> 'PAID' AND p.check_at IS NULL",
            row -> {
              differs(
                  row.getLong(2),
                  "order %d is %s, but charged".formatted(row.getLong(1), row.getString(3)));
            },
            inForce.toArray());
      }
      after = page.isEmpty() ? after : page.get(page.size() - 1).chargeId();
      stepEnds.run();
    } while (page.size() == PAGE);
    if (chargedCents != 0 && differences.isEmpty()) {
      differences.add("charges of %d have no entry".formatted(-chargedCents));
    }
  }

  private void checkPayments(Runnable stepEnds) {
    long[] after = {0};
    int size;
    do {
      Map<Long, Long> paid = new HashMap<>();
      size =
          snapshot
              .query(
                  "SELECT order_id, amount_cents, charge_id FROM payment"
                      + " WHERE order_id > ? AND state = 'CHARGED' ORDER BY order_id LIMIT ?",
                  (row, number) -> {
                    after[0] = row.getLong(1);
                    String ofWallet = WalletPayments.chargeId(new OrderId(after[0]));
                    if (row.getLong(2) > 0 && ofWallet.equals(row.getString(3))) {
                      paid.put(after[0], row.getLong(2));
                    }
                    return after[0];
                  },
                  after[0],
                  PAGE)
              .size();
      Map<Long, ChargeRow> charges = WalletTable.charges(snapshot, paid.keySet());
      paid.forEach(
          (order, amount) -> {
            ChargeRow charge = charges.get(order);
            if (charge == null || charge.closed() || charge.amountCents() != amount) {
              differences.add("order %d is paid, but its charge is %s".formatted(order, charge));
            }
          });
      stepEnds.run();
    } while (size == PAGE);
  }

  private void differs(long userId, String difference) {
    users.add(userId);
    differences.add("user " + userId + ": " + difference);
  }

  long wallets() {
    return wallets;
  }

  long entries() {
    return entries;
  }

  List<String> differences() {
    return Collections.unmodifiableList(differences);
  }

  /**
   * Users with a difference. Not those of frozen wallets: an operator may have restored one since
   * the snapshot, and set it ACTIVE.
   */
  List<Long> toFreeze() {
    return users.stream().filter(user -> !frozen.contains(user)).toList();
  }
}
