package io.seckill.bench.baseline;

import io.seckill.bench.baseline.DeductionRows.Decided;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** One charge per transaction through JDBC: charge, entry, balance, commit. */
public final class RowDeductor implements Deductor {

  /** What guards the balance. */
  public enum Guard {
    /** {@code SELECT … FOR UPDATE} at the begin. */
    LOCK,
    /** A version that is read at the begin, and that every entry raises: {@code seq}. */
    VERSION,
    /** {@code balance >= n} in the update, which locks the row that is read afterwards. */
    CONDITION
  }

  private static final String READ = "SELECT balance_cents, seq FROM wallet WHERE user_id = ?";
  private static final String TAKE =
      "UPDATE wallet SET balance_cents = balance_cents - 1, seq = seq + 1"
          + " WHERE user_id = ? AND balance_cents >= 1";

  private final Connection mysql;
  private final Guard guard;
  private final DeductionRows rows;
  private final PreparedStatement read;
  private final PreparedStatement take;
  private final PreparedStatement takeIfUnchanged;

  /** Closes the connection with itself. */
  public RowDeductor(Connection mysql, Guard guard) throws SQLException {
    this.mysql = mysql;
    this.guard = guard;
    this.rows = new DeductionRows(mysql);
    this.read = mysql.prepareStatement(guard == Guard.LOCK ? READ + " FOR UPDATE" : READ);
    this.take = mysql.prepareStatement(TAKE);
    this.takeIfUnchanged = mysql.prepareStatement(TAKE + " AND seq = ?");
  }

  @Override
  public boolean deduct(Deduction deduction) throws SQLException {
    return Conflicts.repeat(mysql, () -> once(deduction)).orElse(false);
  }

  private Optional<Boolean> once(Deduction deduction) throws SQLException {
    try {
      if (!write(deduction)) {
        return Optional.empty();
      }
      mysql.commit();
      return Optional.of(true);
    } catch (SQLException e) {
      // Another has stored the same sequence number, or MySQL chose this transaction as victim.
      if (Conflicts.isDuplicate(e) || Conflicts.isVictim(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private boolean write(Deduction deduction) throws SQLException {
    if (guard == Guard.CONDITION) {
      if (!takes(take, deduction)) {
        return false;
      }
      insert(deduction, 0);
      return true;
    }
    long version = insert(deduction, 1);
    if (guard == Guard.LOCK) {
      return takes(take, deduction);
    }
    takeIfUnchanged.setLong(2, version);
    return takes(takeIfUnchanged, deduction);
  }

  private static boolean takes(PreparedStatement update, Deduction deduction) throws SQLException {
    update.setLong(1, deduction.userId());
    return update.executeUpdate() == 1;
  }

  /**
   * @param ahead 1 before the balance is changed, 0 afterwards
   * @return the sequence number that was read
   */
  private long insert(Deduction deduction, long ahead) throws SQLException {
    read.setLong(1, deduction.userId());
    try (ResultSet row = read.executeQuery()) {
      row.next();
      long seq = row.getLong(2);
      rows.insert(List.of(new Decided(deduction, seq + ahead, row.getLong(1) - ahead)));
      return seq;
    }
  }

  @Override
  public void close() throws SQLException {
    mysql.close();
  }
}
