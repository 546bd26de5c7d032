package io.seckill.bench.baseline;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The rows that order-consumer writes of charges: charge and entry, through JDBC. One connection,
 * one thread; the caller changes the balance and commits.
 */
final class DeductionRows {

  private final Connection mysql;

  /** By the number of rows. */
  private final Map<Integer, PreparedStatement> charges = new HashMap<>();

  private final Map<Integer, PreparedStatement> entries = new HashMap<>();

  /** Sets the connection to the consumer's isolation level, without automatic commits. */
  DeductionRows(Connection mysql) throws SQLException {
    this.mysql = mysql;
    mysql.setAutoCommit(false);
    mysql.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
  }

  /**
   * A deduction and what it makes of its wallet.
   *
   * @param seq of its entry
   */
  record Decided(Deduction deduction, long seq, long balanceAfter) {}

  /**
   * @throws SQLException also when a key is stored already
   */
  void insert(List<Decided> batch) throws SQLException {
    PreparedStatement charge =
        prepared(
            charges,
            batch.size(),
            "INSERT INTO wallet_charge (charge_id, user_id, amount_cents, refunded_cents, closed)"
                + " VALUES ",
            "(?,?,1,0,FALSE)");
    PreparedStatement entry =
        prepared(
            entries,
            batch.size(),
            "INSERT INTO wallet_entry (user_id, seq, kind, amount_cents, balance_after, request_id,"
                + " charge_id, created_at) VALUES ",
            "(?,?,'CHARGE',-1,?,?,?,UTC_TIMESTAMP(6))");
    int ofCharge = 1;
    int ofEntry = 1;
    for (Decided decided : batch) {
      Deduction deduction = decided.deduction;
      charge.setLong(ofCharge++, deduction.chargeId());
      charge.setLong(ofCharge++, deduction.userId());
      entry.setLong(ofEntry++, deduction.userId());
      entry.setLong(ofEntry++, decided.seq);
      entry.setLong(ofEntry++, decided.balanceAfter);
      entry.setString(ofEntry++, deduction.requestId());
      entry.setLong(ofEntry++, deduction.chargeId());
    }
    charge.executeUpdate();
    entry.executeUpdate();
  }

  private PreparedStatement prepared(
      Map<Integer, PreparedStatement> known, int size, String insert, String row)
      throws SQLException {
    PreparedStatement statement = known.get(size);
    if (statement == null) {
      statement = mysql.prepareStatement(insert + OrderRows.times(size, row));
      known.put(size, statement);
    }
    return statement;
  }
}
