package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * No test waits without a bound for a thread, a process, a latch or a result: what hangs would take
 * its JVM's half an hour, and not say where. {@code Bounded} waits for a while.
 */
class BoundedWaitsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));

  /** Programs and threads that wait until a test ends or releases them. */
  private static final Set<String> ENDED_BY_TESTS =
      Set.of("ServersOfAKilledJvm", "FailpointRegistry", "BatchDeductor", "BatchSeller");

  private static final Pattern TEXT_OR_COMMENT =
      Pattern.compile(
          "\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

  /** A variable of this type; none of a collection of futures, nor of their supplier. */
  private static final Pattern FUTURE =
      Pattern.compile("(?<![<\\w])(?:Completable|Scheduled)?Future<.*>\\s+(\\w+)\\s*[=;:,)]");

  private static final Pattern WAIT =
      Pattern.compile("\\.(?:join|await|waitFor|take|acquire|get)\\s*\\(\\s*\\)");

  /** Calls that return a future. */
  private static final Pattern BEGIN =
      Pattern.compile("\\.(?:submit|supplyAsync|runAsync|sendAsync)\\(");

  @Test
  void noTestWaitsWithoutABound() throws IOException {
    List<String> found = new ArrayList<>();
    int read = 0;
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(BoundedWaitsTest::isTest).toList()) {
        read++;
        String name = file.getFileName().toString().replace(".java", "");
        if (!ENDED_BY_TESTS.contains(name)) {
          unbounded(Files.readString(file)).forEach(wait -> found.add(name + ": " + wait));
        }
      }
    }
    assertThat(read).as("sources of tests").isGreaterThan(300);
    assertThat(found).as("waits without a bound").isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "thread.join();                                             | 1",
        "return all.join();                                         | 1",
        "int x = first(a).thenApply(b).join();                      | 1",
        "latch.await();                                             | 1",
        "int code = process.waitFor();                              | 1",
        "queue.take();                                              | 1",
        "Future<?> done = begin(); done.get();                      | 1",
        "CompletableFuture<A> done = begin(); check(done.get().b());| 1",
        "for (Future<Map<A, B>> one : all) { one.get(); }           | 1",
        "pool.submit(task).get();                                   | 1",
        "pool.submit(() -> { go(); }).get();                        | 1",
        "thread.join(60_000);                                       | 0",
        "all.orTimeout(5, MINUTES).join();                          | 0",
        "latch.await(5, SECONDS);                                   | 0",
        "process.waitFor(1, SECONDS);                               | 0",
        "Future<?> done = begin(); done.get(5, SECONDS);            | 0",
        "Bounded.get(done); Bounded.await(latch);                   | 0",
        "AtomicLong next = n(); next.get(); name.get();             | 0",
        "Supplier<CompletableFuture<A>> act = b(); act.get();       | 0",
        "await().until(ready); Awaitility.await().until(ready);     | 0",
        "String x = \"a.join()\"; // b.join()                       | 0",
      })
  void aWaitIsFoundByWhatItIs(String code, int waits) {
    assertThat(unbounded(code)).hasSize(waits);
  }

  /** The ends of the statements that wait without a bound. */
  private static List<String> unbounded(String source) {
    String code = TEXT_OR_COMMENT.matcher(source).replaceAll("\"\"");
    Set<String> futures = new HashSet<>();
    FUTURE.matcher(code).results().forEach(declared -> futures.add(declared.group(1)));
    List<String> found = new ArrayList<>();
    Matcher wait = WAIT.matcher(code);
    while (wait.find()) {
      String asked = code.substring(beginOfStatement(code, wait.start()), wait.start());
      if (!isBounded(asked, wait.group(), futures)) {
        found.add(asked.strip() + wait.group());
      }
    }
    return found;
  }

  /** A statement in braces that are closed again, as of a lambda, is part of it. */
  private static int beginOfStatement(String code, int end) {
    int depth = 0;
    for (int at = end - 1; at >= 0; at--) {
      char c = code.charAt(at);
      if (c == '}' || c == ')') {
        depth++;
      } else if ((c == '{' || c == '(') && depth > 0) {
        depth--;
      } else if ((c == ';' || c == '{') && depth == 0) {
        return at + 1;
      }
    }
    return 0;
  }

  private static boolean isBounded(String asked, String wait, Set<String> futures) {
    if (asked.contains("orTimeout(") || asked.endsWith("Awaitility")) {
      return true;
    }
    String variable = asked.replaceAll("(?s).*?(\\w*)\\s*$", "$1");
    return wait.startsWith(".get") && !futures.contains(variable) && !BEGIN.matcher(asked).find();
  }

  private static boolean isTest(Path file) {
    String path = ROOT.relativize(file).toString().replace('\\', '/');
    return path.endsWith(".java") && path.contains("src/test/") && !path.contains("/target/");
  }
}
