package io.seckill.bench.baseline;

import io.seckill.bench.baseline.DeductionRows.Decided;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Several charges in one transaction: locks their wallets in the order of users, decides in memory,
 * writes all rows with three statements. One connection, one thread.
 */
final class DeductionBatch {

  private final Connection mysql;
  private final DeductionRows rows;

  DeductionBatch(Connection mysql) throws SQLException {
    this.mysql = mysql;
    this.rows = new DeductionRows(mysql);
  }

  private record Wallet(long balance, long seq) {}

  /** Returns whether each was stored; none is when the batch lost to others too often. */
  List<Boolean> store(List<Deduction> batch) throws SQLException {
    return Conflicts.repeat(mysql, () -> once(batch))
        .orElseGet(() -> batch.stream().map(one -> false).toList());
  }

  private Optional<List<Boolean>> once(List<Deduction> batch) throws SQLException {
    try {
      Map<Long, Wallet> wallets = lock(batch);
      List<Decided> decided = new ArrayList<>();
      List<Boolean> stored = new ArrayList<>();
      for (Deduction deduction : batch) {
        Wallet wallet = wallets.get(deduction.userId());
        boolean isCovered = wallet != null && wallet.balance >= 1;
        stored.add(isCovered);
        if (isCovered) {
          Wallet after = new Wallet(wallet.balance - 1, wallet.seq + 1);
          wallets.put(deduction.userId(), after);
          decided.add(new Decided(deduction, after.seq, after.balance));
        }
      }
      if (!decided.isEmpty()) {
        rows.insert(decided);
        write(wallets);
      }
      mysql.commit();
      return Optional.of(stored);
    } catch (SQLException e) {
      if (Conflicts.isVictim(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private Map<Long, Wallet> lock(List<Deduction> batch) throws SQLException {
    String users =
        batch.stream()
            .map(Deduction::userId)
            .distinct()
            .map(Object::toString)
            .collect(Collectors.joining(","));
    Map<Long, Wallet> wallets = new HashMap<>();
    try (PreparedStatement select =
            mysql.prepareStatement(
                "SELECT user_id, balance_cents, seq FROM wallet FORCE INDEX (PRIMARY)"
                    + (" WHERE user_id IN (" + users + ") ORDER BY user_id FOR UPDATE"));
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        wallets.put(row.getLong(1), new Wallet(row.getLong(2), row.getLong(3)));
      }
    }
    return wallets;
  }

  /** Absolute values: the rows are locked, so nobody else has changed them. */
  private void write(Map<Long, Wallet> wallets) throws SQLException {
    String values =
        new TreeMap<>(wallets)
            .entrySet().stream()
                .map(
                    one ->
                        "(%d,%d,%d,'ACTIVE')"
                            .formatted(one.getKey(), one.getValue().balance, one.getValue().seq))
                .collect(Collectors.joining(","));
    try (PreparedStatement update =
        mysql.prepareStatement(
            "INSERT INTO wallet (user_id, balance_cents, seq, state) VALUES "
                + values
                + " ON DUPLICATE KEY UPDATE balance_cents = VALUES(balance_cents),"
                + " seq = VALUES(seq)")) {
      update.executeUpdate();
    }
  }
}
