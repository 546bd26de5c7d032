package io.seckill.system.kubernetes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What docs and the files beside the manifests say, for comparison with them. */
final class DocumentedSettings {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final List<String> SERVICES =
      List.of("gateway-service", "relay-service", "order-consumer");

  private DocumentedSettings() {}

  /** The properties of a service in docs/configuration.md. */
  static Set<String> properties(String service) throws IOException {
    Set<String> properties = new HashSet<>();
    String chapter = "";
    for (String line : read("docs/configuration.md").lines().toList()) {
      if (line.startsWith("## ")) {
        chapter = line.substring(3);
      } else if (line.startsWith("- `")) {
        boolean has =
            chapter.equals("Several services")
                ? !defaults(line).get(SERVICES.indexOf(service)).equals("–")
                : chapter.equals(service);
        if (has) {
          addNames(line.split("`", -1)[1], properties);
        }
      }
    }
    return properties;
  }

  /** Defaults of each service: three in parentheses, or one for all. */
  private static List<String> defaults(String line) {
    Matcher parentheses = Pattern.compile("` \\((.*?)\\):").matcher(line.split(": ", 2)[0] + ":");
    String[] values = parentheses.find() ? parentheses.group(1).split(", ", -1) : new String[] {""};
    return values.length == 3 ? List.of(values) : List.of(values[0], values[0], values[0]);
  }

  /** {@code a.b.url / user} stands for {@code a.b.url} and {@code a.b.user}. */
  private static void addNames(String cell, Set<String> properties) {
    String[] names = cell.split(" / ", -1);
    String prefix = names[0].substring(0, names[0].lastIndexOf('.') + 1);
    properties.add(names[0]);
    Stream.of(names).skip(1).forEach(name -> properties.add(prefix + name));
  }

  /** The environment variable of a property, as docs/configuration.md describes it. */
  static String variable(String property) {
    return property.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /** The Secrets that docs/operations.md asks for, with their keys. */
  static Map<String, Set<String>> secrets() throws IOException {
    String page = read("docs/operations.md");
    int start = page.indexOf("\n## Kubernetes");
    String chapter = page.substring(start, page.indexOf("\n## ", start + 1));
    Map<String, Set<String>> secrets = new TreeMap<>();
    Matcher row = Pattern.compile("(?m)^\\| `([a-z-]+)` \\| (`.*?`) \\|").matcher(chapter);
    while (row.find()) {
      secrets.put(row.group(1), Set.of(row.group(2).replace("`", "").split(", ", -1)));
    }
    return secrets;
  }

  /** The JVM's flags of scripts/up. */
  static List<String> jvmFlags() throws IOException {
    return List.of(find("scripts/lib/services.sh", "JAVA_FLAGS:-(.*)}").split(" ", -1));
  }

  /** Seconds that a service has to stop after its delay, which are enough for its drains. */
  static int secondsToStop() throws IOException {
    return Integer.parseInt(
        find("docs/configuration.md", "Allow a process the delay and (\\d+) s"));
  }

  /** Version of the images: of this project, when it is released. */
  static String version() throws IOException {
    return find("pom.xml", "<artifactId>seckill</artifactId>\\s*<version>([0-9.]+)");
  }

  private static String find(String file, String pattern) throws IOException {
    Matcher found = Pattern.compile(pattern).matcher(read(file));
    if (!found.find()) {
      throw new IllegalStateException(file + " has no " + pattern);
    }
    return found.group(1);
  }

  private static String read(String file) throws IOException {
    return Files.readString(ROOT.resolve(file));
  }
}
