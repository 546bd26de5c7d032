package io.seckill.consumer.testing;

import com.zaxxer.hikari.HikariDataSource;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Callable;

/** MySQL's limit on the size of a statement. */
public final class PacketLimit {

  private PacketLimit() {}

  /** Stores something while MySQL accepts only statements of that size. */
  public static <T> T during(TestConsumer consumer, int bytes, Callable<T> storing)
      throws Exception {
    try (Connection root = TestServers.mysql().rootConnection();
        Statement sql = root.createStatement()) {
      long before = read(sql);
      set(sql, bytes, consumer);
      try {
        return storing.call();
      } finally {
        set(sql, before, consumer);
      }
    }
  }

  private static long read(Statement sql) throws SQLException {
    try (ResultSet row = sql.executeQuery("SELECT @@GLOBAL.max_allowed_packet")) {
      row.next();
      return row.getLong(1);
    }
  }

  /** A connection has the limit of the time when it was opened. */
  private static void set(Statement sql, long bytes, TestConsumer consumer) throws SQLException {
    sql.execute("SET GLOBAL max_allowed_packet = " + bytes);
    ((HikariDataSource) consumer.bean(ConnectionPools.class).orderStorage())
        .getHikariPoolMXBean()
        .softEvictConnections();
  }
}
