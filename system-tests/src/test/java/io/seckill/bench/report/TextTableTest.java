package io.seckill.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TextTableTest {

  private static final Row RELAY =
      new Row(
          "relay",
          "relay.orders_per_s",
          List.of(
              new Row.Against("PerfTest", "perftest.published_per_s"),
              new Row.Against("one by one", "relay.one_by_one_per_s")));

  private final Figures figures = new Figures();

  @Test
  void setsEachFigureBesideWhatItIsComparedWith() {
    figures.add("relay.orders_per_s", 31_204);
    figures.add("relay.orders_per_s", 30_000);
    figures.add("relay.orders_per_s", 33_000);
    figures.add("perftest.published_per_s", 62_408);

    assertThat(lines())
        .anySatisfy(line -> assertThat(line).contains("relay", "31 204 /s", "30 000 .. 33 000"))
        .anySatisfy(line -> assertThat(line).contains("PerfTest", "62 408 /s", "x 0.50"));
  }

  @Test
  void leavesOutWhatWasNotMeasured() {
    figures.add("relay.orders_per_s", 31_204);

    assertThat(lines()).noneSatisfy(line -> assertThat(line).contains("one by one"));
    assertThat(TextTable.of(List.of(RELAY), new Figures()).lines()).hasSize(1);
  }

  @Test
  void drawsTheSameInHtmlWithoutFetchingAnything() {
    figures.add("relay.orders_per_s", 31_204);
    figures.add("perftest.published_per_s", 62_408);

    String html = HtmlReport.of(List.of(RELAY), figures, Map.of("kernel", "<6>"));

    assertThat(html).contains("<svg", "31 204 /s", "&times; 0.50", "&lt;6&gt;");
    assertThat(html).doesNotContain("http://", "https://", "<script");
  }

  private List<String> lines() {
    return TextTable.of(List.of(RELAY), figures).lines().toList();
  }
}
