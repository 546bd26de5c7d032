package io.seckill.support.jdbc;

import com.mysql.cj.jdbc.NonRegisteringDriver;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * MySQL's driver, which with several hosts, {@code jdbc:mysql://a:3306,b:3306/…}, connects to the
 * one that accepts writes and to no other. By itself it would connect to the first that answers, a
 * standby as well, and change to another host within a connection (facts.md 45). A connection may
 * take 2 s, an answer 10 s, unless the URL has other time-outs.
 */
public final class PrimaryDriver extends NonRegisteringDriver {

  private static final Pattern SEVERAL =
      Pattern.compile("(jdbc:mysql://)([^/(@,]+(?:,[^/(@,]+)+)(/.*)");

  /**
   * The host of the last connection, which is tried first: a host that is down costs a time-out.
   */
  private volatile String latest = "";

  static {
    try {
      DriverManager.registerDriver(new PrimaryDriver());
    } catch (SQLException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Public, as pools demand it. */
  public PrimaryDriver() throws SQLException {}

  /** Throws SQLTransientConnectionException when the last host of several is read-only. */
  @Override
  public @Nullable Connection connect(String url, Properties settings) throws SQLException {
    String bounded = bounded(url);
    Matcher several = SEVERAL.matcher(bounded);
    if (!several.matches()) {
      return super.connect(bounded, settings);
    }
    List<String> hosts = new ArrayList<>(List.of(several.group(2).split(",")));
    String first = latest;
    if (hosts.remove(first)) {
      hosts.add(0, first);
    }
    SQLException failure = new SQLTransientConnectionException("no host accepts writes", "08001");
    for (String host : hosts) {
      try {
        Connection primary =
            writable(super.connect(several.group(1) + host + several.group(3), settings), host);
        latest = host;
        return primary;
      } catch (SQLException e) {
        e.addSuppressed(failure);
        failure = e;
      }
    }
    throw failure;
  }

  /** The URLs of the single hosts. Returns empty when the URL does not name several hosts. */
  public static List<String> singleHosts(String url) {
    Matcher several = SEVERAL.matcher(bounded(url));
    return several.matches()
        ? Stream.of(several.group(2).split(","))
            .map(host -> several.group(1) + host + several.group(3))
            .toList()
        : List.of();
  }

  /** By itself, the driver waits for as long as TCP does for a server that has lost its power. */
  private static String bounded(String url) {
    return bounded(bounded(url, "connectTimeout", 2_000), "socketTimeout", 10_000);
  }

  private static String bounded(String url, String timeout, int ms) {
    return url.matches("(?i).*[?&]" + timeout + "=.*")
        ? url
        : url + (url.contains("?") ? "&" : "?") + timeout + "=" + ms;
  }

  private static Connection writable(Connection connection, String host) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer =
            statement.executeQuery("SELECT @@global.read_only OR @@global.innodb_read_only")) {
      if (answer.next() && !answer.getBoolean(1)) {
        return connection;
      }
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
    connection.close();
    throw new SQLTransientConnectionException(host + " is read-only", "08001");
  }
}
