package io.seckill.consumer.wallet;

import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.consumer.wallet.WalletBatch.Booked;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.EntryKey;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletEntries.WalletEntryRow;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;

/** The tables {@code wallet}, {@code wallet_entry} and {@code wallet_charge}. */
final class WalletTable {

  private static final String NEW_WALLETS =
      "INSERT INTO wallet (user_id, balance_cents, seq, state) VALUES %s";

  private static final String NEW_CHARGES =
      "INSERT INTO wallet_charge (charge_id, user_id, amount_cents, refunded_cents, closed)"
          + " VALUES %s";

  private WalletTable() {}

  /**
   * Locks the wallets of these users, in the order of the key, until the transaction ends.
   *
   * @param users one or more
   * @param wait false to leave out wallets that another transaction has locked
   * @return the wallets by user; users without one are missing
   */
  static Map<Long, WalletRow> lock(JdbcOperations jdbc, Collection<Long> users, boolean wait) {
    return read(jdbc, users, wait ? " FOR UPDATE" : " FOR UPDATE SKIP LOCKED");
  }

  /** As {@link #lock}, without locks. */
  static Map<Long, WalletRow> find(JdbcOperations jdbc, Collection<Long> users) {
    return read(jdbc, users, "");
  }

  private static Map<Long, WalletRow> read(
      JdbcOperations jdbc, Collection<Long> users, String locks) {
    return byKey(
        WalletRow::userId,
        jdbc.query(
            "SELECT user_id, balance_cents, seq, state FROM wallet FORCE INDEX (PRIMARY)"
                + " WHERE user_id IN ("
                + Sql.marks(users.size())
                + ")"
                + locks,
            (row, number) ->
                new WalletRow(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    WalletState.valueOf(row.getString(4))),
            users.toArray()));
  }

  private static <K, T> Map<K, T> byKey(Function<T, K> key, List<T> rows) {
    return rows.stream().collect(Collectors.toMap(key, Function.identity()));
  }

  /** Freezes a wallet, also one that does not exist yet, or ends that. */
  static void setState(JdbcOperations jdbc, long userId, WalletState state) {
    jdbc.update(
        (NEW_WALLETS + " ON DUPLICATE KEY UPDATE state = VALUES(state)").formatted("(?, 0, 0, ?)"),
        userId,
        state.name());
  }

  /**
   * Stores up to which entries wallets are right; a locked wallet is left to the next check.
   *
   * @param verified numbers of the entries, by user; one or more
   */
  static int setVerified(JdbcOperations jdbc, Map<Long, Long> verified) {
    Set<Long> free = lock(jdbc, verified.keySet(), false).keySet();
    return free.isEmpty()
        ? 0
        : jdbc.update(
            "UPDATE ("
                + String.join(
                    " UNION ALL ",
                    Collections.nCopies(free.size(), "SELECT ? AS user_id, ? AS seq"))
                + ") checked STRAIGHT_JOIN wallet w ON w.user_id = checked.user_id"
                + " SET w.verified_seq = checked.seq WHERE w.verified_seq < checked.seq",
            verified.entrySet().stream()
                .filter(each -> free.contains(each.getKey()))
                .sorted(Map.Entry.comparingByKey())
                .flatMap(each -> Stream.of(each.getKey(), each.getValue()))
                .toArray());
  }

  /** The entries of those operations that are done. */
  static Map<EntryKey, Booked> done(JdbcOperations jdbc, Collection<WalletOperation> operations) {
    String sql =
        "SELECT user_id, request_id, seq, kind, amount_cents, balance_after, charge_id"
            + " FROM wallet_entry FORCE INDEX (uk_wallet_request) WHERE (user_id, request_id) IN ("
            + Sql.repeated("(?,?)", operations.size())
            + ")";
    return byKey(
        Booked::key,
        jdbc.query(
            sql,
            (row, number) ->
                new Booked(
                    new EntryKey(row.getLong(1), row.getString(2)),
                    row.getLong(3),
                    WalletKind.valueOf(row.getString(4)),
                    row.getLong(5),
                    row.getLong(6),
                    row.getObject(7, Long.class),
                    null),
            operations.stream()
                .flatMap(operation -> Stream.of(operation.userId(), operation.requestId()))
                .toArray()));
  }

  /** These charges by id; those that do not exist are missing. */
  static Map<Long, ChargeRow> charges(JdbcOperations jdbc, Collection<Long> ids) {
    return ids.isEmpty()
        ? Map.of()
        : byKey(
            ChargeRow::chargeId,
            jdbc.query(
                "SELECT charge_id, user_id, amount_cents, refunded_cents, closed FROM wallet_charge"
                    + " WHERE charge_id IN ("
                    + Sql.marks(ids.size())
                    + ")",
                (row, number) ->
                    new ChargeRow(
                        row.getLong(1),
                        row.getLong(2),
                        row.getLong(3),
                        row.getLong(4),
                        row.getBoolean(5)),
                ids.toArray()));
  }

  /**
   * Writes what a batch has changed.
   *
   * @throws DataAccessException of a duplicate key when a key, the number of an entry or a charge
   *     has been stored since it was read: everything must be rolled back
   */
  static void write(JdbcOperations jdbc, WalletBatch batch) {
    Collection<ChargeRow> charges = batch.changedCharges();
    Collection<WalletRow> wallets = batch.changedWallets();
    write(
        jdbc,
        NEW_CHARGES,
        charges.stream().filter(row -> !batch.isStored(row)).map(WalletTable::values),
        1);
    write(
        jdbc,
        NEW_CHARGES
            + " ON DUPLICATE KEY UPDATE refunded_cents = VALUES(refunded_cents),"
            + " closed = VALUES(closed)",
        charges.stream().filter(batch::isStored).map(WalletTable::values),
        2);
    write(
        jdbc,
        "INSERT INTO wallet_entry (user_id, seq, kind, amount_cents, balance_after, request_id,"
            + " charge_id, reason) VALUES %s",
        batch.newEntries().stream().map(WalletTable::values),
        1);
    write(
        jdbc,
        NEW_WALLETS,
        wallets.stream().filter(row -> !batch.isStored(row)).map(WalletTable::values),
        1);
    write(
        jdbc,
        NEW_WALLETS
            + " ON DUPLICATE KEY UPDATE balance_cents = VALUES(balance_cents), seq = VALUES(seq)",
        wallets.stream().filter(batch::isStored).map(WalletTable::values),
        2);
  }

  private static Object[] values(ChargeRow charge) {
    return new Object[] {
      charge.chargeId(),
      charge.userId(),
      charge.amountCents(),
      charge.refundedCents(),
      charge.closed()
    };
  }

  private static Object[] values(Booked entry) {
    return new Object[] {
      entry.key().userId(),
      entry.seq(),
      entry.kind().name(),
      entry.signedCents(),
      entry.balanceAfter(),
      entry.key().requestId(),
      entry.chargeId(),
      entry.reason()
    };
  }

  private static Object[] values(WalletRow wallet) {
    return new Object[] {
      wallet.userId(), wallet.balanceCents(), wallet.seq(), wallet.state().name()
    };
  }

  /**
   * @param sql with %s in place of the rows
   * @param countOfRow 1 for an insert, 2 for an update: MySQL's count of affected rows
   */
  private static void write(
      JdbcOperations jdbc, String sql, Stream<Object[]> rows, int countOfRow) {
    List<Object[]> all = rows.toList();
    if (all.isEmpty()) {
      return;
    }
    String marks = Sql.repeated("(" + Sql.marks(all.get(0).length) + ")", all.size());
    int count = jdbc.update(sql.formatted(marks), all.stream().flatMap(Arrays::stream).toArray());
    checkCount(count, countOfRow * all.size());
  }

  private static void checkCount(int count, int expected) {
    if (count != expected) {
      throw new IllegalStateException("%d rows counted in place of %d".formatted(count, expected));
    }
  }

  /** A page of a user's entries, newest first. */
  static List<WalletEntryRow> before(JdbcOperations jdbc, long userId, long before, int limit) {
    return jdbc.query(
        "SELECT seq, kind, amount_cents, balance_after, request_id, charge_id, reason, created_at"
            + " FROM wallet_entry WHERE user_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?",
        (row, number) ->
            new WalletEntryRow(
                row.getLong(1),
                WalletKind.valueOf(row.getString(2)),
                row.getLong(3),
                row.getLong(4),
                row.getString(5),
                row.getObject(6, Long.class),
                row.getString(7),
                UtcColumn.instant(row, "created_at")),
        userId,
        before,
        limit);
  }
}
