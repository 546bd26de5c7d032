package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.process.Service;
import io.seckill.testing.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What grows with the sales behind, with the size of a sale, and with what one account did: each at
 * three sizes. On servers of its own, because no other stage may have these rows behind it; the
 * rows of sales that are not sold here are written by SQL.
 */
final class Large implements Stage {

  private static final String SLOW = "large.slow_statements";
  private static final int SLOW_SECONDS = 2;

  /** Bound of the waits for work on a whole sale. */
  static final Duration LONGEST = Duration.ofMinutes(40);

  /** Everything is compared when it is asked for; accounts send what no shopper does. */
  private static final Map<String, String> VARIABLES =
      Map.of(
          "SECKILL_RECONCILIATION_INTERVAL", "1h",
          "SECKILL_LIMITS_USERPERSECOND", "0",
          "SECKILL_FALLBACK", "manual");

  @Override
  public String name() {
    return "large";
  }

  @Override
  public boolean isOnRequest() {
    return true;
  }

  @Override
  public List<Row> rows() {
    return Stream.of(
            SalesBehind.rows(),
            LargeSale.rows(),
            LargeAccount.rows(),
            ArchivedSales.rows(),
            Stream.of(Row.of("statements of more than 2 s", SLOW)))
        .flatMap(rows -> rows)
        .toList();
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly();
    onOwnServers(lab, figures, own -> new SalesBehind(own).measure(figures));
    onOwnServers(
        lab,
        figures,
        own -> {
          new LargeSale(own).measure(figures);
          new LargeAccount(own).measure(figures);
          new ArchivedSales(own).measure(figures);
        });
  }

  /** Work in a lab. */
  @FunctionalInterface
  private interface InLab {
    void measure(Lab lab) throws Exception;
  }

  private static void onOwnServers(Lab lab, Figures figures, InLab work) throws Exception {
    try (Lab own = Lab.openWith(lab.settings(), lab.progress(), VARIABLES);
        Connection root = own.mysqlAsRoot();
        Statement statement = root.createStatement()) {
      statement.execute("SET GLOBAL long_query_time = " + SLOW_SECONDS);
      own.redis().configSet("maxmemory", "8gb"); // as operations.md says for larger sales
      own.runOnly(Service.values());
      work.measure(own);
      figures.count(SLOW, slowStatements(root));
    }
  }

  private static long slowStatements(Connection mysql) throws SQLException {
    return Rows.of(mysql, "SHOW GLOBAL STATUS LIKE 'Slow_queries'", row -> row.getLong(2)).get(0);
  }

  /** A connection for rows written by SQL: no binary log, and never counted as slow. */
  static Connection writer(Lab lab) throws SQLException {
    Connection root = lab.mysqlAsRoot();
    try (Statement statement = root.createStatement()) {
      statement.execute("SET long_query_time = 3600, sql_log_bin = 0, unique_checks = 0");
    }
    return root;
  }
}
