package io.seckill.consumer.runtime;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * Reads DATETIME columns, which hold UTC. As a timestamp they would be converted through the time
 * zone of the JVM.
 */
public final class UtcColumn {

  private UtcColumn() {}

  public static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }

  public static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
    LocalDateTime time = row.getObject(column, LocalDateTime.class);
    return time == null ? null : time.toInstant(ZoneOffset.UTC);
  }
}
