package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GlossaryTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern HOMES = Pattern.compile("\\(((?:`[^`]+`(?:, )?)+)\\) \\|$");
  private static final Pattern NAME = Pattern.compile("`([^`]+)`");

  @Test
  void everyTermIsAtHomeInTheCode() throws IOException {
    List<String> rows =
        Files.readAllLines(ROOT.resolve("docs/glossary.md")).stream()
            .filter(line -> line.startsWith("| ") && !line.startsWith("| word "))
            .toList();
    assertThat(rows).as("terms").hasSizeGreaterThan(20);
    Set<String> sources = sources();
    for (String row : rows) {
      List<MatchResult> homes = HOMES.matcher(row).results().toList();
      assertThat(homes).as(row).hasSize(1);
      for (String name : NAME.matcher(homes.get(0).group(1)).results().map(m -> m.group(1)).toList()) {
        String file = name.contains(".") ? name : name + ".java";
        assertThat(sources).as(row).contains(file);
      }
    }
  }

  private static Set<String> sources() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(file -> ROOT.relativize(file).toString().contains("src/main/"))
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toSet());
    }
  }
}
