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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Classes and scripts that the docs name as the home of a term or a step are in the code. */
class GlossaryTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern HOMES = Pattern.compile("\\(((?:`[^`]+`(?:, )?)+)\\)$");
  private static final Pattern NAME = Pattern.compile("`([^`]+)`");
  private static final Pattern STEP = Pattern.compile("(?m)^\\d+\\. `([^`]+)`:");

  @Test
  void everyTermIsAtHomeInTheCode() throws IOException {
    List<String> rows =
        Files.readAllLines(ROOT.resolve("docs/glossary.md")).stream()
            .filter(line -> line.startsWith("- **"))
            .toList();
    assertThat(rows).as("terms").hasSizeBetween(20, 45);
    Set<String> sources = sources();
    for (String row : rows) {
      List<MatchResult> homes = HOMES.matcher(row).results().toList();
      assertThat(homes).as(row).hasSize(1);
      for (String name :
          NAME.matcher(homes.get(0).group(1)).results().map(m -> m.group(1)).toList()) {
        assertThat(sources).as(row).contains(file(name));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"'A purchase, from route to row', 10", "'A pause, from route to both stores', 8"})
  void aPathIsFollowedThroughFewFilesOfTheCode(String heading, int most) throws IOException {
    String architecture = Files.readString(ROOT.resolve("docs/architecture.md"));
    String section = architecture.split("\n## " + heading + "\n", 2)[1].split("\n## ", 2)[0];
    List<String> steps = STEP.matcher(section).results().map(step -> file(step.group(1))).toList();
    assertThat(steps).as("files").isNotEmpty().hasSizeLessThanOrEqualTo(most);
    assertThat(sources()).containsAll(steps);
  }

  private static String file(String name) {
    return name.contains(".") ? name : name + ".java";
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
