package io.seckill.system.docs;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A class name exists once in the whole repository, so that it means one thing. */
class ClassNamesTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));

  /** Also nested types: with two of them a reader asks which one is meant. */
  private static final Pattern BARE_WORD =
      Pattern.compile("\\b(?:class|enum|interface|record) (Kind|Sale|State|Work)\\b");

  @Test
  void everyClassNameExistsOnce() throws IOException {
    try (Stream<Path> files = Files.walk(ROOT)) {
      Map<String, Long> names =
          files
              .filter(ClassNamesTest::isSource)
              .map(file -> file.getFileName().toString())
              .filter(name -> !name.equals("package-info.java"))
              .collect(groupingBy(name -> name, counting()));

      assertThat(names).as("class names").hasSizeGreaterThan(300);
      names.values().removeIf(count -> count == 1);
      assertThat(names).as("files with the same name").isEmpty();
    }
  }

  @Test
  void aWordThatManyTypesCouldHaveNamesOne() throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(ClassNamesTest::isMainSource).toList()) {
        BARE_WORD.matcher(Files.readString(file)).results().forEach(it -> names.add(it.group(1)));
      }
    }
    assertThat(names).as("types named by a bare word").isNotEmpty().doesNotHaveDuplicates();
  }

  static boolean isSource(Path file) {
    String path = ROOT.relativize(file).toString();
    return path.endsWith(".java") && path.contains("src/");
  }

  private static boolean isMainSource(Path file) {
    return isSource(file) && file.toString().contains("src/main/");
  }
}
