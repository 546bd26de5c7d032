package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentationLinksTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:)([^)#]*)(?:#([^)]*))?\\)");
  private static final Pattern CODE_BLOCK = Pattern.compile("(?ms)^```.*?^```");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
  private static final Pattern PAGE = Pattern.compile("docs/[A-Za-z0-9_/-]+\\.md");

  @Test
  void everyRelativeLinkLeadsToAFileAndAHeading() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
        if (!Files.exists(target) || !hasHeading(target, link.group(2))) {
          broken.add(ROOT.relativize(page) + " -> " + link.group());
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  /** Migrations are left out: Flyway compares their text with that of the release that ran them. */
  @Test
  void everyPageThatCodeNamesExists() throws IOException {
    List<String> missing = new ArrayList<>();
    int named = 0;
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(DocumentationLinksTest::isCode).toList()) {
        Matcher page = PAGE.matcher(Files.readString(file));
        while (page.find()) {
          named++;
          if (!Files.exists(ROOT.resolve(page.group()))) {
            missing.add(ROOT.relativize(file) + " -> " + page.group());
          }
        }
      }
    }
    assertThat(named).as("pages that code names").isGreaterThan(40);
    assertThat(missing).isEmpty();
  }

  private static boolean hasHeading(Path page, String anchor) throws IOException {
    if (anchor == null || !page.toString().endsWith(".md")) {
      return true;
    }
    String text = CODE_BLOCK.matcher(Files.readString(page)).replaceAll("");
    return HEADING
        .matcher(text)
        .results()
        .map(heading -> anchor(heading.group(1)))
        .anyMatch(anchor::equals);
  }

  /** The anchor that GitHub makes of a heading. */
  private static String anchor(String heading) {
    return heading
        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
        .strip()
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\w\\- ]", "")
        .replace(' ', '-');
  }

  private static boolean isCode(Path file) {
    String path = ROOT.relativize(file).toString().replace('\\', '/');
    return path.matches(".*\\.(java|yml|yaml)|scripts/[a-z/.]+")
        && !path.contains("target/")
        && Files.isRegularFile(file);
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages =
        new ArrayList<>(
            Stream.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md").map(ROOT::resolve).toList());
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      docs.filter(path -> path.toString().endsWith(".md")).forEach(pages::add);
    }
    return pages;
  }
}
