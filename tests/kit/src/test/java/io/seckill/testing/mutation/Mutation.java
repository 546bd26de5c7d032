package io.seckill.testing.mutation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A change to the product that breaks a guarantee.
 *
 * @param settings system properties of the changed process
 */
public record Mutation(String name, List<Edit> edits, Map<String, String> settings) {

  public Mutation {
    edits = List.copyOf(edits);
    settings = Map.copyOf(settings);
  }

  /** A mutation that changes nothing yet. */
  public static Mutation named(String name) {
    return new Mutation(name, List.of(), Map.of());
  }

  /**
   * Redirects calls.
   *
   * @param where {@code class#method} that makes the calls; its lambdas count as the method
   * @param called {@code class#method} that is called, as the calling class names it
   * @param replacement class with a static method of that name and the same parameters, preceded by
   *     the receiver when there is one
   */
  public Mutation calls(String where, String called, Class<?> replacement) {
    return calls(where, called, replacement, false);
  }

  /** As {@link #calls(String, String, Class)}, for the first call in the method only. */
  public Mutation firstCall(String where, String called, Class<?> replacement) {
    return calls(where, called, replacement, true);
  }

  private Mutation calls(String where, String called, Class<?> replacement, boolean firstOnly) {
    String[] in = split(where);
    String[] of = split(called);
    return with(new Edit.Call(in[0], in[1], of[0], of[1], replacement, firstOnly));
  }

  /** Changes part of a string constant of a class, such as SQL. */
  public Mutation constant(String className, String from, String to) {
    return with(new Edit.Constant(className, from, to));
  }

  /** Changes part of a text file on the class path, such as Lua; the part must occur once. */
  public Mutation text(String path, String from, String to) {
    return with(new Edit.Text(path, from, to));
  }

  private Mutation with(Edit edit) {
    List<Edit> more = new ArrayList<>(edits);
    more.add(edit);
    return new Mutation(name, more, settings);
  }

  /** Sets a system property. */
  public Mutation setting(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(settings);
    more.put(key, value);
    return new Mutation(name, edits, more);
  }

  /**
   * @param test {@code class#method} that must fail
   * @param complaint part of the message with which it must fail
   */
  public MutationCase caughtBy(String test, String complaint) {
    split(test);
    return new MutationCase(this, test, complaint);
  }

  private static String[] split(String member) {
    String[] parts = member.split("#", -1);
    if (parts.length != 2) {
      throw new IllegalArgumentException("not class#method: " + member);
    }
    return parts;
  }

  @Override
  public String toString() {
    return name;
  }
}
