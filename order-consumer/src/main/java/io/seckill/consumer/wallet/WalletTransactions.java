package io.seckill.consumer.wallet;

import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.wallet.WalletBatch.Booked;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.EntryKey;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.support.logging.ThrottledLog;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The parts of a transaction that read under locks, decide and write. Its isolation is READ
 * COMMITTED, so what is read after a lock is what its last holder has committed. A duplicate key
 * means that another transaction came first: everything must be rolled back.
 */
final class WalletTransactions {

  private static final ThrottledLog edits =
      new ThrottledLog(LoggerFactory.getLogger(WalletTransactions.class));

  private WalletTransactions() {}

  /**
   * Decides operations and writes what they change.
   *
   * @param areNew true to look for earlier ones only if a wallet refuses one; an earlier one is
   *     then a duplicate key
   * @param waits for wallets that another transaction has locked; else they are BUSY. One whose
   *     balance was edited by hand always is
   * @param makes wallets of users without one, which may wait for another transaction that makes
   *     the same one; else these users are BUSY
   * @return an outcome for each, in their order
   */
  static List<WalletOutcome> decide(
      JdbcOperations jdbc,
      Collection<WalletOperation> operations,
      boolean areNew,
      boolean waits,
      boolean makes) {
    Set<Long> users = new TreeSet<>();
    Set<Long> charges = new TreeSet<>();
    for (WalletOperation operation : operations) {
      users.add(operation.userId());
      if (operation.chargeId() != null) {
        charges.add(operation.chargeId());
      }
    }
    Map<Long, WalletRow> wallets = WalletTable.lock(jdbc, users, waits);
    users.removeAll(wallets.keySet());
    Set<Long> busy = edited(jdbc, wallets.keySet());
    if (!makes) {
      busy.addAll(users);
    } else if (!waits && !users.isEmpty()) {
      busy.addAll(WalletTable.find(jdbc, users).keySet());
    }
    WalletBatch batch = new WalletBatch(wallets, busy, Map.of(), Map.of());
    if (!areNew || !batch.decide(operations).isDone()) {
      Map<EntryKey, Booked> done = WalletTable.done(jdbc, operations);
      batch = new WalletBatch(wallets, busy, done, WalletTable.charges(jdbc, charges));
      batch.decide(operations);
    }
    WalletTable.write(jdbc, batch);
    return batch.outcomes();
  }

  /**
   * Users whose balance is not that of their last entry: the next one would book the difference.
   */
  private static Set<Long> edited(JdbcOperations jdbc, Set<Long> locked) {
    if (locked.isEmpty()) {
      return new HashSet<>();
    }
    String sql =
        "SELECT w.user_id FROM wallet w FORCE INDEX (PRIMARY)"
            + " LEFT JOIN wallet_entry e ON e.user_id = w.user_id AND e.seq = w.seq"
            + " WHERE w.user_id IN ("
            + Sql.marks(locked.size())
            + ") AND NOT (w.balance_cents <=> IF(w.seq = 0, 0, e.balance_after))";
    Set<Long> edited = new HashSet<>(jdbc.queryForList(sql, Long.class, locked.toArray()));
    if (!edited.isEmpty()) {
      edits.warn(
          "users " + edited, new IllegalStateException("a balance is not that of the last entry"));
    }
    return edited;
  }

  /**
   * Refunds what is left of a charge and closes it.
   *
   * @return DONE, or why nothing was done
   */
  static WalletCode close(JdbcOperations jdbc, long chargeId, String requestId) {
    Map<Long, ChargeRow> stored = WalletTable.charges(jdbc, List.of(chargeId));
    Map<Long, WalletRow> wallets = Map.of();
    ChargeRow charge = stored.get(chargeId);
    if (charge != null) { // its user stays the same, its amounts may change before the lock
      wallets = WalletTable.lock(jdbc, List.of(charge.userId()), true);
      stored = WalletTable.charges(jdbc, List.of(chargeId));
      charge = stored.get(chargeId);
    }
    if (charge != null && charge.closed()) {
      return WalletCode.DONE;
    }
    WalletBatch batch = new WalletBatch(wallets, edited(jdbc, wallets.keySet()), Map.of(), stored);
    if (charge != null && charge.isInForce()) {
      batch.decide(
          List.of(
              new WalletOperation(
                  charge.userId(),
                  WalletKind.REFUND,
                  requestId,
                  charge.leftCents(),
                  chargeId,
                  null)));
      WalletCode refund = batch.outcomes().get(0).code();
      if (refund != WalletCode.DONE) {
        return refund;
      }
    }
    batch.close(chargeId);
    WalletTable.write(jdbc, batch);
    return WalletCode.DONE;
  }
}
