package io.seckill.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JsonReportTest {

  private final Figures figures = new Figures();

  @Test
  void hasEveryFlatKeyAndNoOtherWhateverWasMeasured() {
    figures.add("admission.accepted_20_skus_per_s", 1);

    JsonNode report = JsonMapper.shared().readTree(JsonReport.flat(figures));

    assertThat(report.propertyNames()).containsExactlyElementsOf(JsonReport.KEYS);
    assertThat(report.get("relay.orders_per_s").isNull()).isTrue();
  }

  @Test
  void dividesMediansOfTheSameRun() {
    figures.add("relay.orders_per_s", 30_000);
    figures.add("relay.orders_per_s", 20_000);
    figures.add("relay.orders_per_s", 90_000);
    figures.add("perftest.published_per_s", 40_000);

    JsonNode report = JsonMapper.shared().readTree(JsonReport.flat(figures));

    assertThat(report.get("relay.orders_per_s").asDouble()).isEqualTo(30_000);
    assertThat(report.get("relay.ratio_perftest").asDouble()).isEqualTo(0.75);
  }

  @Test
  void namesTheCpuTimeOfAnOrderAtTheSustainedRate() {
    figures.add(CpuCost.total("e2e.sustained_per_s"), 136);

    JsonNode report = JsonMapper.shared().readTree(JsonReport.flat(figures));

    assertThat(report.get("e2e.cpu_us_per_order").asDouble()).isEqualTo(136);
  }

  @Test
  void keepsRepeatsAndMachineInTheDetails() {
    figures.add("burst.seconds", 1.25);
    figures.add("burst.seconds", 1.75);

    JsonNode report =
        JsonMapper.shared()
            .readTree(JsonReport.detailed(figures, Map.of("processor", "2 x of them")));

    assertThat(report.at("/machine/processor").asString()).isEqualTo("2 x of them");
    assertThat(report.get("figures").get("burst.seconds").get("max").asDouble()).isEqualTo(1.75);
    assertThat(report.get("figures").get("burst.seconds").get("repeats").asInt()).isEqualTo(2);
  }
}
