package io.seckill.bench.lab;

import io.seckill.bench.report.Figures;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Users with a balance, written by rows: no service needs to run. */
public final class FundedUsers implements AutoCloseable {

  /** What each has at the start. */
  public static final long CENTS = 1_000_000_000L;

  private static final int ROWS = 5_000;

  private final Connection mysql;
  private final Users users;

  /** Creates so many of them, each with a recharge. */
  public FundedUsers(Lab lab, int count) throws SQLException {
    this(lab, lab.newUsers(count));
  }

  /** Gives each of these users, whose ids follow each other, a wallet with a recharge. */
  public FundedUsers(Lab lab, Users users) throws SQLException {
    this.mysql = lab.mysql();
    this.users = users;
    long end = users.first() + users.count();
    for (long first = users.first(); first < end; first += ROWS) {
      long last = Math.min(end, first + ROWS);
      insert("wallet (user_id, balance_cents, seq, state)", "(%d,%d,1,'ACTIVE')", first, last);
      insert(
          "wallet_entry (user_id, seq, kind, amount_cents, balance_after, request_id, created_at)",
          "(%d,1,'RECHARGE',%2$d,%2$d,'bench-money',UTC_TIMESTAMP(6))",
          first,
          last);
    }
  }

  private void insert(String table, String row, long first, long end) throws SQLException {
    String values =
        LongStream.range(first, end)
            .mapToObj(user -> row.formatted(user, CENTS))
            .collect(Collectors.joining(","));
    try (Statement insert = mysql.createStatement()) {
      insert.executeUpdate("INSERT INTO " + table + " VALUES " + values);
    }
  }

  public Users users() {
    return users;
  }

  /** Returns the entries of their charges. */
  public long charges() throws SQLException {
    return number("SELECT COUNT(*) FROM wallet_entry WHERE kind = 'CHARGE' AND " + ours());
  }

  /**
   * Counts the defects: accepted charges without an entry, entries that nobody was answered, and
   * wallets whose balance or sequence is not that of their entries.
   *
   * @param accepted charges of one cent
   */
  public void count(Figures figures, String prefix, long accepted) throws SQLException {
    long charges = charges();
    figures.count(prefix + ".lost", Math.max(0, accepted - charges));
    figures.count(prefix + ".doubled", Math.max(0, charges - accepted));
    figures.count(
        prefix + ".broken_guarantees",
        number(
            "SELECT COUNT(*) FROM wallet w JOIN (SELECT user_id, SUM(amount_cents) AS cents,"
                + " COUNT(*) AS entries FROM wallet_entry WHERE "
                + ours()
                + " GROUP BY user_id) e ON e.user_id = w.user_id"
                + " WHERE w.balance_cents <> e.cents OR w.seq <> e.entries OR w.balance_cents < 0"));
  }

  private String ours() {
    return "user_id BETWEEN %d AND %d".formatted(users.first(), users.first() + users.count() - 1);
  }

  private long number(String sql) throws SQLException {
    try (Statement select = mysql.createStatement();
        ResultSet row = select.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  @Override
  public void close() throws SQLException {
    mysql.close();
  }
}
