package io.seckill.consumer.testing;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.atomic.AtomicLong;

/** A connection whose prepared statements count the rows that are read of their results. */
public final class CountedRows {

  private CountedRows() {}

  public static Connection of(Connection connection, AtomicLong rows) {
    return counting(Connection.class, connection, rows);
  }

  private static <T> T counting(Class<T> type, T real, AtomicLong rows) {
    return type.cast(
        Proxy.newProxyInstance(
            CountedRows.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, args) -> {
              Object result = method.invoke(real, args);
              if (method.getName().equals("next") && Boolean.TRUE.equals(result)) {
                rows.incrementAndGet();
              }
              if (result instanceof PreparedStatement statement) {
                return counting(PreparedStatement.class, statement, rows);
              }
              return result instanceof ResultSet set
                  ? counting(ResultSet.class, set, rows)
                  : result;
            }));
  }
}
