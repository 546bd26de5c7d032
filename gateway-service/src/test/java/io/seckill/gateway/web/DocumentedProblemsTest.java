package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.support.web.ProblemCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentedProblemsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path OPENAPI = ROOT.resolve("gateway-service/src/main/resources/openapi");

  @Test
  void everyCodeIsInOpenApiOrOnAPage() throws IOException {
    StringBuilder text = new StringBuilder();
    for (Path page : pages()) {
      text.append(Files.readString(page));
    }

    assertThat(ProblemCode.values())
        .filteredOn(code -> !Pattern.compile("\\b" + code.name() + "\\b").matcher(text).find())
        .as("codes that no page and no OpenAPI description names")
        .isEmpty();
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages =
        new ArrayList<>(List.of(OPENAPI.resolve("shopper.yaml"), OPENAPI.resolve("admin.yaml")));
    try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      docs.filter(page -> page.toString().endsWith(".md")).forEach(pages::add);
    }
    return pages;
  }
}
