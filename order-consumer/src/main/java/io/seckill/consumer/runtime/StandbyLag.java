package io.seckill.consumer.runtime;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.support.jdbc.PrimaryDriver;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

/**
 * Measures how far the standbys of MySQL are behind: the time since a position of the primary was
 * read that a standby has not applied at the last check. A standby that does not answer is further
 * behind at every check. Without several hosts in the JDBC URL there is nothing to measure.
 */
@Component
class StandbyLag {

  private static final Logger log = LoggerFactory.getLogger(StandbyLag.class);

  private static final String IS_PRIMARY =
      "SELECT NOT (@@global.read_only OR @@global.innodb_read_only)";

  /** A COMMIT waits for the standby, so seconds do not matter here. */
  private static final Duration PAUSE = Duration.ofSeconds(10);

  private final List<String> urls;
  private final String user;
  private final String password;

  /** By URL, the oldest position that a standby is not known to have applied. */
  private volatile Map<String, Awaited> awaited = Map.of();

  /**
   * @param sinceNanos when the primary had this position
   * @param checkedNanos when the standby had not applied it
   */
  private record Awaited(String position, long sinceNanos, long checkedNanos) {

    Awaited checkedNow() {
      return new Awaited(position, sinceNanos, System.nanoTime());
    }

    double seconds() {
      return Duration.ofNanos(checkedNanos - sinceNanos).toMillis() / 1e3;
    }
  }

  @Autowired
  StandbyLag(HikariDataSource settings, MeterRegistry meters) {
    this(settings.getJdbcUrl(), settings.getUsername(), settings.getPassword(), meters);
  }

  StandbyLag(String jdbcUrl, String user, String password, MeterRegistry meters) {
    this.urls = PrimaryDriver.singleHosts(jdbcUrl);
    this.user = user;
    this.password = password;
    Gauge.builder("seckill.mysql.standby.lag", this::seconds)
        .description("Time since the primary had a position that a standby has not applied")
        .baseUnit("seconds")
        .register(meters);
  }

  double seconds() {
    return awaited.values().stream().mapToDouble(Awaited::seconds).max().orElse(0);
  }

  @Bean
  Sweeper standbyLagSweeper() {
    return new Sweeper("standby-lag", PAUSE, this::round);
  }

  /** Checks every standby once; each host that is down costs a time-out. */
  void round() {
    Map<String, Connection> standbys = new HashMap<>();
    String primary = null;
    String position = null;
    try {
      for (String url : urls) {
        Connection connection = connect(url);
        if (connection == null) {
          continue;
        }
        standbys.put(url, connection);
        if (isPrimary(connection)) {
          primary = url;
          position = position(connection);
        }
      }
      Map<String, Awaited> next = new HashMap<>();
      for (String url : urls) {
        Awaited still =
            url.equals(primary)
                ? null
                : stillAwaited(awaited.get(url), position, standbys.get(url));
        if (still != null) {
          next.put(url, still);
        }
      }
      awaited = next;
    } finally {
      standbys.values().forEach(StandbyLag::close);
    }
  }

  /** Returns the oldest position that the standby has not applied; null when it has all. */
  private static @Nullable Awaited stillAwaited(
      @Nullable Awaited before, @Nullable String now, @Nullable Connection standby) {
    if (before != null && !isApplied(before.position(), standby)) {
      return before.checkedNow();
    }
    if (now == null || isApplied(now, standby)) {
      return null;
    }
    long read = System.nanoTime();
    return new Awaited(now, read, read);
  }

  private @Nullable Connection connect(String url) {
    try {
      return DriverManager.getConnection(url, user, password);
    } catch (SQLException e) {
      log.debug("A host of MySQL does not answer", e);
      return null;
    }
  }

  private static boolean isPrimary(Connection connection) {
    try {
      return "1".equals(answer(connection, IS_PRIMARY));
    } catch (SQLException e) {
      log.debug("A host of MySQL does not say whether it is the primary", e);
      return false;
    }
  }

  private static @Nullable String position(Connection primary) {
    try {
      return answer(
          primary,
          isMariaDb(primary) ? "SELECT @@global.gtid_binlog_pos" : "SELECT @@global.gtid_executed");
    } catch (SQLException e) {
      log.debug("The position of the primary cannot be read", e);
      return null;
    }
  }

  private static boolean isApplied(String position, @Nullable Connection standby) {
    if (standby == null) {
      return false;
    }
    try {
      return isMariaDb(standby)
          ? "0".equals(answer(standby, "SELECT MASTER_GTID_WAIT(?, 0)", position))
          : "1".equals(answer(standby, "SELECT GTID_SUBSET(?, @@global.gtid_executed)", position));
    } catch (SQLException e) {
      log.debug("A standby does not say what it has applied", e);
      return false;
    }
  }

  private static boolean isMariaDb(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseProductVersion().contains("MariaDB");
  }

  private static @Nullable String answer(Connection connection, String query, String... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(query)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getString(1) : null;
      }
    }
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      log.debug("The connection is gone already", e);
    }
  }
}
