package io.seckill.consumer.runtime;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Reads and writes DATETIME columns, which hold UTC. As timestamps they would be converted through
 * the time zone of the JVM. Writes them as text: Connector/J cuts the milliseconds off its own time
 * types when the server reports a version older than 5.6.4, and MariaDB reports 5.5.5.
 */
public final class UtcColumn {

  private UtcColumn() {}

  /** MySQL's clock, which all processes share. */
  public static Instant now(JdbcClient jdbc) {
    return jdbc.sql("SELECT NOW(6) AS now_at")
        .query((row, number) -> instant(row, "now_at"))
        .single();
  }

  public static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }

  public static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
    LocalDateTime time = row.getObject(column, LocalDateTime.class);
    return time == null ? null : time.toInstant(ZoneOffset.UTC);
  }

  /** As the value of a column; {@code epochMs} is in Unix ms. */
  public static String text(long epochMs) {
    return text(Instant.ofEpochMilli(epochMs));
  }

  public static String text(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC).toString();
  }
}
