package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every entry of docs/facts.md that code or tests cite exists. */
class CitedFactsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern CITED =
      Pattern.compile("\\bfacts\\.md[\\s*]+((?:\\d+(?:, | and )?)+)");
  private static final Pattern ENTRY = Pattern.compile("(?m)^- \\*\\*(\\d+)\\*\\*");
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  @Test
  void everyCitedFactIsAnEntry() throws IOException {
    Set<Integer> cited = new TreeSet<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      files.filter(ClassNamesTest::isSource).forEach(file -> cited.addAll(citedIn(file)));
    }
    assertThat(cited).as("citations of docs/facts.md").hasSizeGreaterThan(20);
    assertThat(entries()).as("entries of docs/facts.md").containsAll(cited);
  }

  private static Set<Integer> citedIn(Path file) {
    Set<Integer> cited = new TreeSet<>();
    try {
      CITED
          .matcher(Files.readString(file))
          .results()
          .flatMap(citation -> NUMBER.matcher(citation.group(1)).results())
          .forEach(number -> cited.add(Integer.parseInt(number.group())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return cited;
  }

  private static Set<Integer> entries() throws IOException {
    Set<Integer> entries = new TreeSet<>();
    ENTRY
        .matcher(Files.readString(ROOT.resolve("docs/facts.md")))
        .results()
        .forEach(entry -> entries.add(Integer.parseInt(entry.group(1))));
    return entries;
  }
}
