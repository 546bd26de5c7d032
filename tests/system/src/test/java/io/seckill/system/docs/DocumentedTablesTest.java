package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentedTablesTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path MIGRATIONS =
      ROOT.resolve("order-consumer/src/main/resources/db/migration");
  private static final Pattern CHANGE = Pattern.compile("(?m)^(CREATE|DROP) TABLE `?(\\w+)");
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

  private static final Set<String> FIXED =
      Set.of("fallback", "order_id_block", "payment_terms", "redis_server", "wallet_check");

  @Test
  void operationsSaysOfEveryTableThatGrowsHowLongRowsAreKept() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/operations.md"));
    Set<String> expected = tables();
    expected.removeAll(FIXED);

    assertThat(namesIn(page.substring(page.indexOf("Rows are kept")), 2)).isEqualTo(expected);
  }

  /** The names before the colons of a list, which begins some lines later. */
  private static Set<String> namesIn(String text, int later) {
    Set<String> names = new TreeSet<>();
    text.lines()
        .skip(later)
        .takeWhile(line -> line.startsWith("- "))
        .map(row -> row.split(":", 2)[0])
        .forEach(row -> NAME.matcher(row).results().forEach(name -> names.add(name.group(1))));
    return names;
  }

  @Test
  void architectureNamesEveryTable() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/architecture.md"));
    String chapter = page.substring(page.indexOf("\n## What MySQL holds"));
    assertThat(namesIn(chapter, 4)).isEqualTo(tables());
  }

  /** Tables after the last migration. */
  private static Set<String> tables() throws IOException {
    Set<String> tables = new TreeSet<>();
    for (Path migration : migrations()) {
      CHANGE
          .matcher(Files.readString(migration))
          .results()
          .forEach(
              change -> {
                if (change.group(1).equals("CREATE")) {
                  tables.add(change.group(2));
                } else {
                  tables.remove(change.group(2));
                }
              });
    }
    assertThat(tables).contains("products", "orders");
    return tables;
  }

  private static List<Path> migrations() throws IOException {
    try (Stream<Path> files = Files.list(MIGRATIONS)) {
      return files.sorted((one, other) -> Integer.compare(number(one), number(other))).toList();
    }
  }

  private static int number(Path migration) {
    return Integer.parseInt(migration.getFileName().toString().replaceFirst("^V(\\d+)__.*", "$1"));
  }
}
