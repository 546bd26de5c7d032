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
import java.util.stream.Stream;
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
   * @return an outcome for each, in their order
   */
  static List<WalletOutcome> decide(
      JdbcOperations jdbc, Collection<WalletOperation> operations, boolean areNew, boolean waits) {
    return decide(jdbc, operations, areNew, waits, true);
  }

  /**
   * @param makes wallets of users without one, which may wait for another transaction that makes
   *     the same one; else these users are BUSY
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
    Set<Long> busy = edited(jdbc, wallets.values());
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
  private static Set<Long> edited(JdbcOperations jdbc, Collection<WalletRow> locked) {
    Set<Long> edited = new HashSet<>();
    if (locked.isEmpty()) {
      return edited;
    }
    Map<Long, Long> booked =
        jdbc.query(
            "SELECT user_id, balance_after FROM wallet_entry FORCE INDEX (PRIMARY)"
                + " WHERE (user_id, seq) IN ("
                + Sql.repeated("(?,?)", locked.size())
                + ")",
            Sql.map(row -> row.getLong(1), row -> row.getLong(2)),
            locked.stream().flatMap(row -> Stream.of(row.userId(), row.seq())).toArray());
    for (WalletRow wallet : locked) {
      Long cents = wallet.seq() == 0 ? Long.valueOf(0) : booked.get(wallet.userId());
      if (cents == null || cents != wallet.balanceCents()) {
        String difference = wallet + " differs from its last entry, " + cents;
        edits.warn("user " + wallet.userId(), new IllegalStateException(difference));
        edited.add(wallet.userId());
      }
    }
    return edited;
  }

  /**
   * Refunds what is left of a charge and closes it.
   *
   * @return DONE, or why nothing was done
   */
  static WalletCode close(JdbcOperations jdbc, long chargeId, String requestId) {
    List<Long> id = List.of(chargeId);
    ChargeRow charge = WalletTable.charges(jdbc, id).get(chargeId);
    Map<Long, WalletRow> wallets = Map.of();
    Set<Long> busy = Set.of();
    if (charge != null) { // its user stays the same, its amounts may change before the lock
      wallets = WalletTable.lock(jdbc, List.of(charge.userId()), true);
      charge = WalletTable.charges(jdbc, id).get(chargeId);
      busy = edited(jdbc, wallets.values());
    }
    if (charge != null && charge.closed()) {
      return WalletCode.DONE;
    }
    WalletBatch batch =
        new WalletBatch(
            wallets, busy, Map.of(), charge == null ? Map.of() : Map.of(chargeId, charge));
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
