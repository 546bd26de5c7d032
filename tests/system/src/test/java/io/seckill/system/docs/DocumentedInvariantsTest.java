package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DocumentedInvariantsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern NAME = Pattern.compile("\\bI\\d+\\b");
  private static final Pattern FIRST_CELL = Pattern.compile("(?m)^- ([^:]*\\bI\\d+\\b[^:]*):");

  @Test
  void everyInvariantIsSaidAndHasAJudge() throws IOException {
    Set<String> all = new TreeSet<>(IntStream.rangeClosed(1, 15).mapToObj(n -> "I" + n).toList());
    String architecture = Files.readString(ROOT.resolve("docs/architecture.md"));

    assertThat(rows(architecture.substring(architecture.indexOf("\n## Invariants"))))
        .as("rows of docs/architecture.md")
        .isEqualTo(all);
    assertThat(rows(Files.readString(ROOT.resolve("docs/proof.md"))))
        .as("rows of docs/proof.md")
        .isEqualTo(all);
  }

  /** Names before the colons of a page's lists. */
  private static Set<String> rows(String page) {
    Set<String> names = new TreeSet<>();
    FIRST_CELL
        .matcher(page)
        .results()
        .forEach(
            row -> NAME.matcher(row.group(1)).results().forEach(name -> names.add(name.group())));
    return names;
  }
}
