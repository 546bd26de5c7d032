package io.seckill.consumer.runtime;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** Statements with a varying number of parameters, written by hand (facts.md 31). */
public final class Sql {

  private Sql() {}

  /** {@code ?,?,?}. */
  public static String marks(int count) {
    return repeated("?", count);
  }

  /** The item, comma-separated. */
  public static String repeated(String item, int times) {
    return String.join(",", Collections.nCopies(times, item));
  }

  /** Parts of a collection, of at most {@code size}, that fit into one statement or pipeline. */
  public static <T> List<List<T>> chunks(Collection<T> all, int size) {
    List<T> items = List.copyOf(all);
    List<List<T>> chunks = new ArrayList<>();
    for (int from = 0; from < items.size(); from += size) {
      chunks.add(items.subList(from, Math.min(items.size(), from + size)));
    }
    return chunks;
  }
}
