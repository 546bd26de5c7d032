package io.seckill.consumer.wallet;

import io.seckill.consumer.payment.ChargesInTransaction;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.support.contract.WalletKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.RowMapper;

/**
 * Checks the charges of wallets in one snapshot: as entries book them, and against orders and
 * payments. For one run and thread.
 */
final class ChargeChecker {

  /** A wallet may have millions of charges, of some 120 bytes each. */
  private static final int MANY = 10_000;

  private static final int PAGE = 500;

  private final JdbcOperations snapshot;
  private final WalletDifferences differences;
  private final Runnable stepEnds;

  /** Amounts that are charged and refunded. */
  private final Map<ChargeOfUser, long[]> booked = new HashMap<>();

  private int many = MANY;
  private long equalCents;

  /** Entries edited by hand may book one charge for two users. */
  private record ChargeOfUser(long userId, long chargeId) {}

  ChargeChecker(JdbcOperations snapshot, WalletDifferences differences, Runnable stepEnds) {
    this.snapshot = snapshot;
    this.differences = differences;
    this.stepEnds = stepEnds;
  }

  /**
   * Adds an entry. Charges that are stored as booked are forgotten whenever there are many; a later
   * entry of one is a difference.
   *
   * @param cents negative those of a charge
   */
  void add(long userId, long chargeId, WalletKind kind, long cents) {
    long[] sums = booked.computeIfAbsent(new ChargeOfUser(userId, chargeId), key -> new long[2]);
    if (kind == WalletKind.CHARGE) {
      sums[0] -= cents;
    } else if (kind == WalletKind.REFUND) {
      sums[1] += cents;
    }
    if (booked.size() >= many) {
      compare(false);
      many = Math.max(MANY, 2 * booked.size()); // refunds of the others may follow
    }
  }

  /** All entries of these charges are added. */
  void endEntries() {
    compare(true);
    booked.clear();
    many = MANY;
  }

  private void compare(boolean isEnd) {
    for (List<ChargeOfUser> page : Sql.chunks(booked.keySet(), PAGE)) {
      Map<Long, ChargeRow> rows =
          WalletTable.charges(
              snapshot, page.stream().map(ChargeOfUser::chargeId).distinct().toList());
      for (ChargeOfUser charge : page) {
        ChargeRow row = rows.get(charge.chargeId());
        long[] sums = Objects.requireNonNull(booked.get(charge));
        if (row != null
            && row.userId() == charge.userId()
            && row.amountCents() == sums[0]
            && row.refundedCents() == sums[1]) {
          equalCents += row.amountCents();
          booked.remove(charge);
        } else if (isEnd) {
          differences.add(
              charge.userId(),
              "charge %d is %s, but booked as %d, refunded %d"
                  .formatted(charge.chargeId(), row, sums[0], sums[1]));
        }
      }
    }
  }

  int size() {
    return booked.size();
  }

  /**
   * Compares all charges with orders: money that was charged for a waiting or ended one is with the
   * house for a while only.
   */
  void checkOrders() {
    long[] unbookedCents = {-equalCents};
    eachRow(
        "SELECT w.charge_id, w.amount_cents, o.user_id, o.status FROM wallet_charge w"
            + " LEFT JOIN payment p ON p.order_id = w.charge_id AND p.check_at IS NOT NULL"
            + " LEFT JOIN orders o ON o.order_id = w.charge_id AND o.status <> 'PAID'"
            + " AND NOT w.closed AND w.refunded_cents < w.amount_cents AND p.order_id IS NULL"
            + " WHERE w.charge_id > ? ORDER BY w.charge_id LIMIT ?",
        (row, number) -> {
          long charge = row.getLong("charge_id");
          String status = row.getString("status");
          unbookedCents[0] += row.getLong("amount_cents");
          if (status != null) {
            differences.add(
                row.getLong("user_id"), "order %d is %s, but charged".formatted(charge, status));
          }
          return charge;
        });
    if (unbookedCents[0] != 0 && differences.count() == 0) {
      differences.add("charges of %d have no entry".formatted(unbookedCents[0]));
    }
  }

  /** Compares all payments from wallets with their charges. */
  void checkPayments() {
    eachRow(
        "SELECT p.order_id, IF(w.closed, 'closed', w.amount_cents) AS charge,"
            + " p.amount_cents > 0"
            + (" AND p.charge_id = CONCAT('" + ChargesInTransaction.ID_PREFIX + "', p.order_id)")
            + " AND NOT (w.closed <=> FALSE AND w.amount_cents <=> p.amount_cents) AS differs"
            + " FROM payment p LEFT JOIN wallet_charge w ON w.charge_id = p.order_id"
            + " WHERE p.order_id > ? AND p.state = 'CHARGED' ORDER BY p.order_id LIMIT ?",
        (row, number) -> {
          long order = row.getLong("order_id");
          if (row.getBoolean("differs")) {
            differences.add(
                "order %d is paid, but its charge is %s".formatted(order, row.getString("charge")));
          }
          return order;
        });
  }

  /** Reads page after page by the id that the mapper returns. */
  private void eachRow(String sql, RowMapper<Long> rows) {
    long after = 0;
    List<Long> page;
    do {
      page = snapshot.query(sql, rows, after, PAGE);
      after = page.isEmpty() ? after : page.get(page.size() - 1);
      stepEnds.run();
    } while (page.size() == PAGE);
  }
}
