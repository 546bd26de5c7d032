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

  @Test
  void setsTheCpuTimeOfEveryProcessBelowItsRate() {
    figures.add("relay.orders_per_s", 31_204);
    figures.add(CpuCost.RELAY.key("relay.orders_per_s"), 5);
    figures.add(CpuCost.RABBITMQ.key("relay.orders_per_s"), 40.2);
    figures.add(CpuCost.MYSQL.key("relay.orders_per_s"), 0);
    figures.add(CpuCost.LOAD_GENERATOR.key("relay.orders_per_s"), 7);
    figures.add(CpuCost.total("relay.orders_per_s"), 45.2);
    String line = "CPU µs each: relay 5 + RabbitMQ 40.2 = 45.2; load generator 7";

    assertThat(lines()).anySatisfy(text -> assertThat(text).endsWith(line));
    assertThat(HtmlReport.of(List.of(RELAY), figures, Map.of())).contains(line);
  }

  private List<String> lines() {
    return TextTable.of(List.of(RELAY), figures).lines().toList();
  }
}
