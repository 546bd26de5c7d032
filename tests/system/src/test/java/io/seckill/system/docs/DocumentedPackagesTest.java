package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentedPackagesTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path SOURCES = Path.of("src/main/java/io/seckill");

  @Test
  void architectureNamesEveryPackage() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/architecture.md"));
    String table =
        page.substring(page.indexOf("\n## Where things are"), page.indexOf("\n## A sale"));

    assertThat(packages())
        .hasSizeGreaterThan(20)
        .allSatisfy(name -> assertThat(table).contains("`…" + name + "`"));
  }

  private static List<String> packages() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      return modules
          .map(module -> module.resolve(SOURCES))
          .filter(Files::isDirectory)
          .flatMap(DocumentedPackagesTest::packages)
          .toList();
    }
  }

  /** Names below {@code io.seckill}. */
  private static Stream<String> packages(Path sources) {
    try (Stream<Path> files = Files.walk(sources)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .map(file -> sources.relativize(file.getParent()).toString().replace('/', '.'))
          .distinct()
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
