package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.suite.Tiers;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The list of docs/proof.md that names the rows of the default tier follows the tags. */
class DocumentedTiersTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path CLASSES = ROOT.resolve("tests/system/target/test-classes");
  private static final String BEGIN = "<!-- rows of the default tier: DocumentedTiersTest -->\n";
  private static final String END = "<!-- end of the rows -->";

  @Test
  void theListOfTheDefaultTierFollowsTheTags() throws IOException {
    String proof = Files.readString(ROOT.resolve("docs/proof.md"));

    String list = proof.substring(proof.indexOf(BEGIN) + BEGIN.length(), proof.indexOf(END));

    assertThat(list).isEqualTo(expectedList());
  }

  private static String expectedList() throws IOException {
    StringBuilder list = new StringBuilder();
    List<Method> rows = rows();
    rows.stream()
        .filter(row -> !Tiers.isProof(row))
        .sorted((a, b) -> line(a).compareTo(line(b)))
        .forEach(row -> list.append(line(row)));
    long proof = rows.stream().filter(Tiers::isProof).count();
    return list.append("\n").append(proof).append(" more have the tag `proof`.\n").toString();
  }

  private static String line(Method row) {
    return "- `%s.%s`\n".formatted(row.getDeclaringClass().getSimpleName(), row.getName());
  }

  private static List<Method> rows() throws IOException {
    try (Stream<Path> files = Files.walk(CLASSES.resolve("io/seckill/system"))) {
      return files
          .map(file -> CLASSES.relativize(file).toString())
          .filter(file -> file.matches(".*/(faults|ha)/[A-Za-z]+IT\\.class"))
          .map(file -> file.replaceAll("\\.class$", "").replace('/', '.'))
          .map(DocumentedTiersTest::load)
          .filter(type -> !Modifier.isAbstract(type.getModifiers()))
          .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
          .filter(method -> method.isAnnotationPresent(DisplayName.class))
          .toList();
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, DocumentedTiersTest.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new AssertionError(name, e);
    }
  }
}
