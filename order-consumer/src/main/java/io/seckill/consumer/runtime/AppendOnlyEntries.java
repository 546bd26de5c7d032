package io.seckill.consumer.runtime;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptException;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * Makes MySQL refuse every change of a row of {@code wallet_entry}, by all users: a grant for all
 * tables cannot leave one out. This is no migration, because a server with a binary log lets the
 * owner of the tables create a trigger only with {@code log_bin_trust_function_creators}: where
 * that is off the books are kept as well, since no statement of the product changes an entry.
 */
final class AppendOnlyEntries {

  private static final Logger log = LoggerFactory.getLogger(AppendOnlyEntries.class);

  private static final ClassPathResource TRIGGERS =
      new ClassPathResource("db/wallet_entry_triggers.sql");

  private AppendOnlyEntries() {}

  /**
   * Creates the triggers that are missing.
   *
   * @param owner connections of the user who owns the tables
   */
  static void protect(DataSource owner) {
    try (Connection connection = owner.getConnection()) {
      if (!areProtected(connection)) {
        ScriptUtils.executeSqlScript(connection, TRIGGERS);
      }
    } catch (SQLException | ScriptException e) {
      log.warn(
          "MySQL does not protect wallet_entry from changes by hand; set"
              + " log_bin_trust_function_creators, and start again",
          e);
    }
  }

  private static boolean areProtected(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet triggers = statement.executeQuery("SHOW TRIGGERS LIKE 'wallet_entry'")) {
      int found = 0;
      while (triggers.next()) {
        found++;
      }
      return found > 1; // for UPDATE and for DELETE
    }
  }
}
