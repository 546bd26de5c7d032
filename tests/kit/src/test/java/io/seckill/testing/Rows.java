package io.seckill.testing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Reads the rows of a query. */
public final class Rows {

  private Rows() {}

  /** Makes something of the current row. */
  @FunctionalInterface
  public interface Reader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Returns what the reader makes of each row of a query with these parameters. */
  public static <T> List<T> of(
      Connection connection, String query, Reader<T> reader, Object... params) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(query)) {
      for (int i = 0; i < params.length; i++) {
        select.setObject(i + 1, params[i]);
      }
      List<T> read = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          read.add(reader.read(rows));
        }
      }
      return read;
    }
  }

  /**
   * Returns the number that a query has in its only row.
   *
   * @throws IllegalStateException when it has none, or more
   */
  public static long number(Connection connection, String query, Object... params)
      throws SQLException {
    List<Long> read = of(connection, query, row -> row.getLong(1), params);
    if (read.size() != 1) {
      throw new IllegalStateException(read.size() + " rows of: " + query);
    }
    return read.get(0);
  }
}
