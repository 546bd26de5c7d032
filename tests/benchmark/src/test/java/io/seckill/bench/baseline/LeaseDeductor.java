package io.seckill.bench.baseline;

import io.seckill.bench.lab.Lab;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Balance that one gateway takes in advance, a hundred cents at a time, and spends from memory: the
 * charge has no row, and the key is compared with nothing. Used by all clients.
 */
public final class LeaseDeductor implements Deductor {

  private static final int LEASE_CENTS = 100;

  private final Connection mysql;
  private final PreparedStatement take;
  private final Map<Long, Integer> leased = new ConcurrentHashMap<>();

  public LeaseDeductor(Lab lab) throws SQLException {
    this.mysql = lab.mysql();
    this.take =
        mysql.prepareStatement(
            "UPDATE wallet SET balance_cents = balance_cents - ? WHERE user_id = ?"
                + " AND balance_cents >= ?");
  }

  @Override
  public boolean deduct(Deduction deduction) {
    leased.compute(
        deduction.userId(), (user, left) -> (left == null || left == 0 ? lease(user) : left) - 1);
    return true;
  }

  private synchronized int lease(long user) {
    try {
      take.setInt(1, LEASE_CENTS);
      take.setLong(2, user);
      take.setInt(3, LEASE_CENTS);
      if (take.executeUpdate() != 1) {
        throw new IllegalStateException("the wallet is empty");
      }
      return LEASE_CENTS;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Cents that are in no store when the gateway ends now. */
  public long unspent() {
    return leased.values().stream().mapToLong(Integer::longValue).sum();
  }

  @Override
  public void close() throws SQLException {
    mysql.close();
  }
}
