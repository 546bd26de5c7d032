package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentedConfigurationTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final List<String> SERVICES =
      List.of("gateway-service", "relay-service", "order-consumer");
  private static final Pattern RECORD =
      Pattern.compile(
          "@ConfigurationProperties\\(\"([a-z.-]+)\"\\)\\s+(?:public )?record \\w+\\((.*?)\\)\\s*\\{",
          Pattern.DOTALL);
  private static final Pattern COMPONENT = Pattern.compile("(\\w+)\\s*(?:,|$)");

  @Test
  void namesEveryPropertyOfEveryService() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/configuration.md"));
    Set<String> undocumented = new TreeSet<>(properties());
    undocumented.removeIf(property -> page.contains("`" + property + "`"));

    assertThat(undocumented).as("properties missing in docs/configuration.md").isEmpty();
  }

  @Test
  void namesNoPropertyThatIsGone() throws IOException {
    Set<String> known = properties();
    Matcher documented =
        Pattern.compile("(?m)^\\| `(seckill\\.(?!redis\\.)[a-z0-9.-]+)`")
            .matcher(Files.readString(ROOT.resolve("docs/configuration.md")));

    assertThat(documented.results().map(row -> row.group(1))).isNotEmpty().isSubsetOf(known);
  }

  private static Set<String> properties() throws IOException {
    Set<String> properties = new TreeSet<>();
    for (String service : SERVICES) {
      try (Stream<Path> sources = Files.walk(ROOT.resolve(service).resolve("src/main/java"))) {
        for (Path source : sources.filter(path -> path.toString().endsWith(".java")).toList()) {
          addProperties(Files.readString(source), properties);
        }
      }
    }
    return properties;
  }

  private static void addProperties(String source, Set<String> properties) {
    Matcher record = RECORD.matcher(source);
    while (record.find()) {
      String components =
          record.group(2).replaceAll("@\\w+\\([^)]*\\)", "").replaceAll("<.*?>", "");
      Matcher component = COMPONENT.matcher(components);
      while (component.find()) {
        properties.add(record.group(1) + "." + kebab(component.group(1)));
      }
    }
  }

  private static String kebab(String name) {
    return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
  }
}
