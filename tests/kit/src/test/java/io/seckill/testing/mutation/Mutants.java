package io.seckill.testing.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs the mutations of one module and collects a table of the results. For one thread only. */
public final class Mutants {

  /** System property with a part of a mutation's name; only matching mutations run. */
  private static final String CHOICE = "seckill.mutation";

  private static final Path TABLE = Path.of("target", "mutations.txt");

  private final List<String> rows = new ArrayList<>();

  /** The mutations that {@code -Dseckill.mutation} selects; all of them when it is not set. */
  public static List<MutationCase> chosen(MutationCase... cases) {
    String choice = System.getProperty(CHOICE, "");
    return List.of(cases).stream().filter(one -> one.mutation().name().contains(choice)).toList();
  }

  /** The mutations of the cases, and the constants of a class, each once. */
  public static List<Mutation> all(List<MutationCase> cases, Class<?> constants) {
    Stream<Mutation> named = cases.stream().map(MutationCase::mutation);
    return Stream.concat(named, Stream.of(constants.getFields()).map(Mutants::constant))
        .distinct()
        .toList();
  }

  private static Mutation constant(Field field) {
    try {
      return (Mutation) field.get(null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Changes copies of the classes and texts, without a test.
   *
   * @throws IllegalArgumentException when one of the edits has nothing to change
   */
  public static void change(Mutation mutation) {
    var unused = new MutantLoader(Mutants.class.getClassLoader(), mutation.edits());
  }

  /**
   * Runs the test with the mutation; it must fail with the expected message. The build runs it
   * without the mutation, in its own class.
   */
  public void prove(MutationCase one) {
    Mutation mutation = one.mutation();
    TestRun mutated = TestRun.of(one.test(), mutation.edits(), mutation.settings());
    @Nullable String complaint = mutated.complaint();
    assertThat(complaint).as("%s under: %s", one.test(), mutation.name()).isNotNull();
    assertThat(complaint)
        .as("why %s fails under: %s", one.test(), mutation.name())
        .contains(one.complaint());
    assertThat(mutated.neverLoaded()).as("changed, but never loaded by the test").isEmpty();
    rows.add(row(one, complaint, mutated.millis()));
  }

  private static String row(MutationCase one, String complaint, long millis) {
    String test = one.test();
    String simple = test.substring(test.lastIndexOf('.', test.indexOf('#')) + 1);
    String line =
        complaint.lines().filter(text -> text.contains(one.complaint())).findFirst().orElse("");
    return "%s%n  caught by %s in %.1f s%n  %s"
        .formatted(one.mutation().name(), simple, millis / 1000.0, line.strip());
  }

  /** Prints the table of results and writes it to {@code target/mutations.txt}. */
  public void report() {
    String table = String.join(System.lineSeparator(), rows) + System.lineSeparator();
    System.out.print(table);
    try {
      Files.writeString(TABLE, table);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
