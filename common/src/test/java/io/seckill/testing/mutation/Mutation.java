package io.seckill.testing.mutation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A change that breaks a guarantee, and the test that must notice.
 *
 * @param settings system properties while the test runs
 * @param test {@code class#method}
 * @param complaint part of the message with which the test must fail
 */
public record Mutation(
    String name, List<Edit> edits, Map<String, String> settings, String test, String complaint) {

  public Mutation {
    edits = List.copyOf(edits);
    settings = Map.copyOf(settings);
  }

  public static Draft named(String name) {
    return new Draft(name);
  }

  @Override
  public String toString() {
    return name;
  }

  /** A mutation that is being described. */
  public static final class Draft {
    private final String name;
    private final List<Edit> edits = new ArrayList<>();
    private final Map<String, String> settings = new LinkedHashMap<>();

    private Draft(String name) {
      this.name = name;
    }

    /**
     * Sends calls somewhere else.
     *
     * @param where {@code class#method} that makes the calls; its lambdas count as the method
     * @param called {@code class#method} that is called, as the calling class names it
     * @param replacement has a static method of that name with the same parameters, after the
     *     receiver when there is one
     */
    public Draft calls(String where, String called, Class<?> replacement) {
      return calls(where, called, replacement, false);
    }

    /** As {@link #calls(String, String, Class)}, for the first call in the method only. */
    public Draft firstCall(String where, String called, Class<?> replacement) {
      return calls(where, called, replacement, true);
    }

    private Draft calls(String where, String called, Class<?> replacement, boolean firstOnly) {
      String[] in = split(where);
      String[] of = split(called);
      edits.add(new Edit.Call(in[0], in[1], of[0], of[1], replacement, firstOnly));
      return this;
    }

    /** Changes part of a string constant of a class, such as SQL. */
    public Draft constant(String className, String from, String to) {
      edits.add(new Edit.Constant(className, from, to));
      return this;
    }

    /** Changes part of a text on the class path, such as Lua; the part must be there once. */
    public Draft text(String path, String from, String to) {
      edits.add(new Edit.Text(path, from, to));
      return this;
    }

    /** Sets a system property while the test runs. */
    public Draft setting(String key, String value) {
      settings.put(key, value);
      return this;
    }

    /**
     * @param test {@code class#method}
     * @param complaint part of the message with which it must fail
     */
    public Mutation caughtBy(String test, String complaint) {
      split(test);
      return new Mutation(name, edits, settings, test, complaint);
    }

    private static String[] split(String member) {
      String[] parts = member.split("#", -1);
      if (parts.length != 2) {
        throw new IllegalArgumentException("not class#method: " + member);
      }
      return parts;
    }
  }
}
