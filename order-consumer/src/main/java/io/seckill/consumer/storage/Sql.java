package io.seckill.consumer.storage;

import java.util.Collections;

/** Statements with a varying number of parameters, written by hand (facts.md 31). */
final class Sql {

  private Sql() {}

  /** {@code ?,?,?}. */
  static String marks(int count) {
    return repeated("?", count);
  }

  /** The item, comma-separated. */
  static String repeated(String item, int times) {
    return String.join(",", Collections.nCopies(times, item));
  }
}
