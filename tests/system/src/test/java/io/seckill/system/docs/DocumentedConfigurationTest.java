package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.io.FileSystemResource;

class DocumentedConfigurationTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final List<String> MODULES =
      List.of(
          "service-support", "relay-lanes", "gateway-service", "relay-service", "order-consumer");
  private static final Pattern RECORD =
      Pattern.compile(
          "@ConfigurationProperties\\(\"([a-z.-]+)\"\\)\\s+(?:public )?record"
              + " \\w+\\((.*?)\\)\\s*\\{",
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
        Pattern.compile("(?m)^- `(seckill\\.(?!redis\\.)[a-z0-9.-]+)`")
            .matcher(Files.readString(ROOT.resolve("docs/configuration.md")));

    assertThat(documented.results().map(row -> row.group(1))).isNotEmpty().isSubsetOf(known);
  }

  @Test
  void hasFewProperties() throws IOException {
    assertThat(Files.readAllLines(ROOT.resolve("docs/configuration.md")))
        .filteredOn(line -> line.startsWith("- `"))
        .hasSizeLessThanOrEqualTo(62);
  }

  @ParameterizedTest
  @CsvSource({"gateway-service, 0", "relay-service, 1", "order-consumer, 2"})
  void namesTheRedisDefaultsOfEachService(String service, int column) throws IOException {
    String page = Files.readString(ROOT.resolve("docs/configuration.md"));
    RedisSettings defaults = redisDefaults(service);
    Map<String, Object> values =
        Map.of(
            "max-connections", defaults.maxConnections(),
            "socket-timeout", defaults.socketTimeout());

    values.forEach(
        (property, value) -> {
          String cell = redisDefault(page, property, column);
          if (cell.startsWith("`")) { // otherwise it explains why there is no value
            String text = cell.replace("`", "");
            Object documented =
                value instanceof Duration
                    ? DurationStyle.detectAndParse(text)
                    : Integer.valueOf(text);
            assertThat(documented).as(property).isEqualTo(value);
          }
        });
    assertThat(redisDefault(page, "socket-timeout", column)).startsWith("`");
  }

  private static RedisSettings redisDefaults(String service) throws IOException {
    MutablePropertySources sources = new MutablePropertySources();
    sources.addLast(
        new MapPropertySource("url", Map.of("seckill.redis.url", "redis://127.0.0.1:1")));
    new YamlPropertySourceLoader()
        .load(
            service,
            new FileSystemResource(
                ROOT.resolve(service).resolve("src/main/resources/application.yml")))
        .forEach(sources::addLast);
    return new Binder(ConfigurationPropertySources.from(sources))
        .bind("seckill.redis", RedisSettings.class)
        .get();
  }

  private static String redisDefault(String page, String property, int service) {
    Matcher row =
        Pattern.compile("(?m)^- `seckill.redis." + property + "` \\((.*?)\\):").matcher(page);
    assertThat(row.find()).as(property).isTrue();
    return row.group(1).split(", ", -1)[service];
  }

  private static Set<String> properties() throws IOException {
    Set<String> properties = new TreeSet<>();
    for (String module : MODULES) {
      try (Stream<Path> sources = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
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
