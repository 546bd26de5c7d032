package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** README repeats figures of the counted run; docs/proof.md has them. */
class CountedRunTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern RECOVERY = Pattern.compile("\\[counted run\\].{0,60} took (\\d+ s)");
  private static final Pattern COUNTS =
      Pattern.compile("had (\\d+ faults), ([\\d ]+ purchases), ([\\d ]+ accepted)");

  @Test
  void readmeHasTheFiguresOfTheCountedRun() throws IOException {
    String readme = Files.readString(ROOT.resolve("README.md"));
    String page = Files.readString(ROOT.resolve("docs/proof.md"));
    String counted = page.substring(page.indexOf("\n## Counted"));
    String run = counted.substring(0, counted.indexOf("\n\n", 20));

    assertThat(run).contains("longest took " + only(RECOVERY, readme).get(0));
    assertThat(run).contains(only(COUNTS, readme));
  }

  private static List<String> only(Pattern pattern, String text) {
    List<MatchResult> found = pattern.matcher(text).results().toList();
    assertThat(found).as(pattern.pattern()).hasSize(1);
    MatchResult match = found.get(0);
    return IntStream.rangeClosed(1, match.groupCount()).mapToObj(match::group).toList();
  }
}
