package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Comments and documentation use the words of the field: machines report, receive, have and read,
 * and each word here has a plainer one. The changelog may name former things.
 */
class PlainWordsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));

  /** Words for machines that are people's, clauses without a noun, and private names. */
  private static final Pattern RETIRED =
      Pattern.compile(
          "(?i)\\b(?:tells?|telling|told|knows|hears?|heard|lets? go|letting go"
              + "|whatever|whoever|of which|of whom|crowds?|give-backs?|gave back"
              + "|giv(?:es?|ing|en)[ -]back|ow(?:es?|ed)|hand-?overs?|watchm[ae]n|strays?"
              + "|yardsticks?|mischief|troubles?|shelf|shelves|glances?|doomed"
              + "|waiting rooms?|coalescers?)\\b");

  private static final Pattern TEXT_OR_COMMENT =
      Pattern.compile(
          "\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\n])*+'"
              + "|(?<comment>/\\*.*?\\*/|//[^\n]*)",
          Pattern.DOTALL);

  private static final Pattern CODE_IN_A_COMMENT =
      Pattern.compile("@param \\w+|\\{@\\w+ [^}]*}|<pre>.*?</pre>");
  private static final Pattern CODE_IN_A_PAGE =
      Pattern.compile("(?ms)^```.*?^```|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->");

  @Test
  void commentsAndPagesUsePlainWords() throws IOException {
    List<String> found = new ArrayList<>();
    int read = 0;
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(PlainWordsTest::isRead).toList()) {
        read++;
        String text = Files.readString(file);
        String prose = isPage(file) ? proseOfAPage(text) : comments(text);
        retired(prose).forEach(word -> found.add(ROOT.relativize(file) + ": " + word));
      }
    }
    assertThat(read).as("sources and pages").isGreaterThan(500);
    assertThat(found).as("retired words").isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/** Tells what Redis has. */ int a;                          | 1",
        "// whatever happens, it was heard of                        | 2",
        "/* a queue, of\\n * which one is read */                     | 1",
        "/** Transfers what {@link Handover} has. */                 | 0",
        "String text = \"it tells // whatever\"; char c = '\"'; // ok | 0",
        "int told = 1; call(heard);                                  | 0",
      })
  void wordsOfCommentsAreFound(String code, int words) {
    assertThat(retired(comments(code.replace("\\n", "\n")))).hasSize(words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "The gateway tells it.                  | 1",
        "Redis knows what it has heard.         | 2",
        "The class `Handover`, [x](handover.md) | 0",
        "A handover of orders                   | 1",
      })
  void wordsOfPagesAreFound(String page, int words) {
    assertThat(retired(proseOfAPage(page))).hasSize(words);
  }

  private static List<String> retired(String prose) {
    return RETIRED.matcher(prose).results().map(MatchResult::group).toList();
  }

  private static String comments(String source) {
    StringBuilder comments = new StringBuilder();
    Matcher match = TEXT_OR_COMMENT.matcher(source);
    while (match.find()) {
      if (match.group("comment") != null) {
        comments.append(match.group("comment").replaceAll("\\s+(\\*\\s)?", " ")).append(' ');
      }
    }
    return CODE_IN_A_COMMENT.matcher(comments).replaceAll("…");
  }

  private static String proseOfAPage(String page) {
    return CODE_IN_A_PAGE.matcher(page).replaceAll("…").replaceAll("\\s+", " ");
  }

  private static boolean isPage(Path file) {
    return file.toString().endsWith(".md");
  }

  private static boolean isRead(Path file) {
    String path = ROOT.relativize(file).toString().replace('\\', '/');
    return !path.contains("target/")
        && path.matches("docs/.*\\.md|README\\.md|CONTRIBUTING\\.md|.*src/.*\\.java");
  }
}
