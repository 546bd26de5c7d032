package io.seckill.consumer.runtime;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.support.jdbc.PrimaryDriver;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
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

  private static final String POSITION = "SELECT @@global.gtid_executed";
  private static final String POSITION_OF_MARIADB = "SELECT @@global.gtid_binlog_pos";

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
    Map<String, SingleConnectionDataSource> hosts = new HashMap<>();
    urls.forEach(url -> hosts.put(url, new SingleConnectionDataSource(url, user, password, true)));
    try {
      awaited = check(hosts);
    } finally {
      hosts.values().forEach(SingleConnectionDataSource::destroy);
    }
  }

  private Map<String, Awaited> check(Map<String, SingleConnectionDataSource> hosts) {
    Map<String, JdbcClient> standbys = new HashMap<>();
    String primary = null;
    String position = null;
    for (String url : urls) {
      JdbcClient host = JdbcClient.create(requireNonNull(hosts.get(url)));
      String isPrimary = answer(host, IS_PRIMARY);
      if ("1".equals(isPrimary)) {
        primary = url;
        position = answer(host, isMariaDb(host) ? POSITION_OF_MARIADB : POSITION);
      } else if (isPrimary != null) {
        standbys.put(url, host);
      }
    }
    Map<String, Awaited> next = new HashMap<>();
    for (String url : urls) {
      Awaited still =
          url.equals(primary) ? null : stillAwaited(awaited.get(url), position, standbys.get(url));
      if (still != null) {
        next.put(url, still);
      }
    }
    return next;
  }

  /** Returns the oldest position that the standby has not applied; null when it has all. */
  private static @Nullable Awaited stillAwaited(
      @Nullable Awaited before, @Nullable String now, @Nullable JdbcClient standby) {
    if (before != null && !isApplied(before.position(), standby)) {
      return before.checkedNow();
    }
    if (now == null || isApplied(now, standby)) {
      return null;
    }
    long read = System.nanoTime();
    return new Awaited(now, read, read);
  }

  private static boolean isApplied(String position, @Nullable JdbcClient standby) {
    if (standby == null) {
      return false;
    }
    return isMariaDb(standby)
        ? "0".equals(answer(standby, "SELECT MASTER_GTID_WAIT(?, 0)", position))
        : "1".equals(answer(standby, "SELECT GTID_SUBSET(?, @@global.gtid_executed)", position));
  }

  private static boolean isMariaDb(JdbcClient host) {
    return String.valueOf(answer(host, "SELECT @@version")).contains("MariaDB");
  }

  /** Returns the only value of the only row; null when it is none, or the host does not answer. */
  private static @Nullable String answer(JdbcClient host, String query, Object... values) {
    try {
      return host.sql(query).params(values).query(String.class).optional().orElse(null);
    } catch (DataAccessException e) {
      log.debug("A host of MySQL does not answer", e);
      return null;
    }
  }
}
