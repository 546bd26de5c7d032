package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentationLinksTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#)([^)#]+)(?:#[^)]*)?\\)");

  @Test
  void everyRelativeLinkLeadsToAFile() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        if (!Files.exists(page.resolveSibling(link.group(1)))) {
          broken.add(ROOT.relativize(page) + " -> " + link.group(1));
        }
      }
    }
    assertThat(broken).isEmpty();
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
