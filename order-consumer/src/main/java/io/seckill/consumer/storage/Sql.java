package io.seckill.consumer.storage;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;

/** Statements with a varying number of parameters, written by hand (facts.md 31). */
final class Sql {

  private Sql() {}

  /** {@code ?,?,?}. */
  static String marks(int count) {
    return repeated("?", count);
  }

  /** The item, comma-separated. */
  static String repeated(String item, int times) {
    StringBuilder text = new StringBuilder(times * (item.length() + 1));
    for (int i = 0; i < times; i++) {
      text.append(i == 0 ? "" : ",").append(item);
    }
    return text.toString();
  }

  static void setLongs(PreparedStatement statement, int from, Collection<Long> values)
      throws SQLException {
    int at = from;
    for (Long value : values) {
      statement.setLong(at++, value);
    }
  }
}
