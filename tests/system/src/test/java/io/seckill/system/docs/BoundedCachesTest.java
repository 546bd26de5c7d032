package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No cache of a service grows for as long as the service runs. */
class BoundedCachesTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));

  private static final Pattern CACHE =
      Pattern.compile("Caffeine\\s*\\.newBuilder\\(.*?\\.build(?:Async)?\\(", Pattern.DOTALL);

  private static final Pattern BOUND =
      Pattern.compile("\\.(?:maximumSize|maximumWeight|expireAfterWrite|expireAfterAccess)\\(");

  @Test
  void everyCacheHasALargestSizeOrForgets() throws IOException {
    List<String> found = new ArrayList<>();
    int caches = 0;
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(BoundedCachesTest::isSource).toList()) {
        for (String cache : caches(Files.readString(file))) {
          caches++;
          if (!BOUND.matcher(cache).find()) {
            found.add(file.getFileName() + ": " + cache);
          }
        }
      }
    }
    assertThat(caches).as("caches").isGreaterThan(8);
    assertThat(found).as("caches without a bound").isEmpty();
  }

  private static List<String> caches(String source) {
    return CACHE.matcher(source).results().map(match -> match.group()).toList();
  }

  private static boolean isSource(Path file) {
    String path = ROOT.relativize(file).toString().replace('\\', '/');
    return path.endsWith(".java") && path.contains("src/main/") && !path.contains("/target/");
  }
}
