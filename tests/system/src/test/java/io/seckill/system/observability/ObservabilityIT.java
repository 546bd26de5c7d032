package io.seckill.system.observability;

import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.system.process.LocalHttp;
import io.seckill.system.process.Service;
import io.seckill.testing.Eventually;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Documents, alert rules and dashboards name metrics that a running pipeline has. */
@ExtendWith({TestServers.class, SharedPipeline.class})
class ObservabilityIT {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path DEPLOYED = ROOT.resolve("deploy/observability");
  private static final Pattern OUR_METRIC = Pattern.compile("\\bseckill_[a-z0-9_]+");
  private static final Pattern DOCUMENTED = Pattern.compile("(?m)^- `(seckill_[a-z0-9_]+)`");
  private static final Pattern QUANTILE =
      Pattern.compile("histogram_quantile\\(.*\\b(\\w+_bucket)\\[.*> ([0-9.]+)$");
  private static final Map<Service, String> CHAPTERS =
      Map.of(
          Service.GATEWAY, "gateway-service",
          Service.RELAY, "relay-service",
          Service.CONSUMER, "order-consumer");

  private static Pipeline pipeline;
  private static Set<String> samples;

  @BeforeAll
  static void sellSomething(Pipeline shared) {
    pipeline = shared;
    long sku = 2201;
    pipeline.admin().sell(sku, PurchasePolicy.LIMITED, 5, 100);
    String order = pipeline.shop().buy(7, sku, 2, "observed-order").text("orderId");
    eventually().until(() -> pipeline.shop().order(7, order).text("status"), "CONFIRMED"::equals);
    awaitLine(
        Service.CONSUMER,
        line ->
            line.startsWith("seckill_ledger_units{")
                && line.contains("sku=\"2201\"")
                && line.contains("term=\"confirmed\"")
                && line.endsWith(" 2.0"));
    // Those that are registered last after the first look at a queue, and at Redis.
    awaitLine(Service.CONSUMER, line -> line.startsWith("seckill_ledger_queue_orders{"));
    awaitLine(Service.GATEWAY, line -> line.startsWith("seckill_redis_misconfigured{"));
    samples = new TreeSet<>();
    for (Service service : Service.values()) {
      samples.addAll(scrape(service).samples());
    }
  }

  private static void awaitLine(Service service, Predicate<String> wanted) {
    eventually().until(() -> scrape(service).lines().stream().anyMatch(wanted));
  }

  @Test
  void everyMetricIsDocumentedAndEveryDocumentedMetricExists() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/metrics.md"));
    for (Service service : Service.values()) {
      assertThat(documented(page, CHAPTERS.get(service)))
          .as("metrics of %s in docs/metrics.md", service)
          .isEqualTo(scrape(service).families());
    }
  }

  @Test
  void noChapterListsAMetricTwice() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/metrics.md"));
    for (String chapter : CHAPTERS.values()) {
      assertThat(rows(page, chapter)).as(chapter).doesNotHaveDuplicates();
    }
  }

  @Test
  void alertRulesNameMetricsThatExist() throws IOException {
    JsonNode rules = AlertRulesTest.yaml("alerts.yml").at("/groups/0/rules");
    String page = Files.readString(ROOT.resolve("docs/operations.md"));
    String answers = page.substring(page.indexOf("\n## What to do for each alert"));

    assertThat(rules.size()).isPositive();
    rules
        .valueStream()
        .forEach(
            rule -> {
              assertThat(rule.path("alert").asString()).isNotEmpty();
              assertThat(answers)
                  .as("what to do for each alert, in docs/operations.md")
                  .containsPattern("(?m)^- .*`" + rule.path("alert").asString() + "`.*: .+$");
              assertThat(rule.at("/labels/severity").asString()).isIn("page", "ticket");
              assertThat(rule.at("/annotations/summary").asString()).isNotEmpty();
              assertExist(rule.path("alert").asString(), rule.path("expr").asString());
            });
  }

  /** Between two of them Prometheus takes the times to be spread evenly. */
  @Test
  void theBoundOfEveryAlertOnAQuantileIsABucket() throws IOException {
    List<MatchResult> bounds =
        AlertRulesTest.yaml("alerts.yml")
            .at("/groups/0/rules")
            .valueStream()
            .flatMap(rule -> QUANTILE.matcher(rule.path("expr").asString()).results())
            .toList();

    assertThat(bounds).isNotEmpty();
    for (MatchResult bound : bounds) {
      assertThat(buckets(bound.group(1)))
          .as(bound.group(1))
          .contains(Double.valueOf(bound.group(2)));
    }
  }

  private static Set<Double> buckets(String histogram) {
    Pattern bucket = Pattern.compile("^" + histogram + "\\{.*\\ble=\"([0-9.]+)\"");
    return Arrays.stream(Service.values())
        .flatMap(service -> scrape(service).lines().stream())
        .flatMap(line -> bucket.matcher(line).results())
        .map(upTo -> Double.valueOf(upTo.group(1)))
        .collect(toCollection(TreeSet::new));
  }

  @Test
  void panelsOfTheDashboardNameMetricsThatExist() throws IOException {
    JsonNode dashboard =
        JsonMapper.shared()
            .readTree(Files.readString(DEPLOYED.resolve("grafana/dashboards/seckill.json")));
    String source =
        AlertRulesTest.yaml("grafana/provisioning/datasources/prometheus.yml")
            .at("/datasources/0/uid")
            .asString();
    List<JsonNode> targets = dashboard.findValues("targets");

    assertThat(targets).isNotEmpty();
    for (JsonNode panel : targets) {
      panel
          .valueStream()
          .forEach(
              target -> {
                assertThat(target.at("/datasource/uid").asString()).isEqualTo(source);
                String expression = target.path("expr").asString();
                assertExist(expression, expression);
              });
    }
    assertExist("variables", dashboard.path("templating").toString());
  }

  @Test
  void prometheusScrapesEveryServiceWhereItServesItsMetrics() throws IOException {
    JsonNode config = AlertRulesTest.yaml("prometheus.yml");
    JsonNode compose =
        JsonMapper.shared()
            .valueToTree(new Yaml().load(Files.readString(ROOT.resolve("deploy/compose.yaml"))));

    assertThat(config.path("rule_files").get(0).asString()).isEqualTo("alerts.yml");
    Set<String> scraped = new TreeSet<>();
    config
        .path("scrape_configs")
        .valueStream()
        .filter(job -> !Set.of("rabbitmq", "node").contains(job.path("job_name").asString()))
        .forEach(
            job -> {
              assertThat(job.path("metrics_path").asString()).isEqualTo("/actuator/prometheus");
              String[] target = job.at("/static_configs/0/targets/0").asString().split(":", -1);
              JsonNode environment = compose.path("services").path(target[0]).path("environment");
              String port =
                  environment.has("SECKILL_ADMIN_PORT") ? "SECKILL_ADMIN_PORT" : "SERVER_PORT";
              assertThat(environment.path(port).asString()).as(target[0]).isEqualTo(target[1]);
              scraped.add(target[0]);
            });
    assertThat(scraped).containsExactlyInAnyOrderElementsOf(CHAPTERS.values());
  }

  @Test
  void aRelayShowsEachLaneAndOfItsHealthNoDetails() {
    String lane = "\\{lane=\"[^\"]+-0\",partition=\"0\"";
    eventually()
        .untilAsserted(
            () ->
                assertThat(String.join("\n", scrape(Service.RELAY).lines()))
                    .contains("seckill_relay_outbox_depth{partition=\"0\"} 0")
                    .containsPattern("seckill_relay_private_queue" + lane + "} 0")
                    .containsPattern("seckill_relay_lane_state" + lane + ",state=\"running\"} 1")
                    .containsPattern("seckill_relay_settled_total [1-9]"));
    assertThat(get(Service.RELAY, "/actuator/health/readiness").toString())
        .contains("\"lanes\":{\"status\":\"UP\"}");
    assertThat(get(Service.RELAY, "/actuator/health").toString())
        .contains("UP")
        .doesNotContain("reason", "details");
  }

  private static Scrape scrape(Service service) {
    return new Scrape(get(service, "/actuator/prometheus"));
  }

  private static List<String> get(Service service, String path) {
    return LocalHttp.get(pipeline.healthPort(service), path, Eventually.SOON)
        .body()
        .lines()
        .toList();
  }

  private static Set<String> documented(String page, String chapter) {
    return new TreeSet<>(rows(page, chapter));
  }

  private static List<String> rows(String page, String chapter) {
    String text = page.substring(page.indexOf("\n## " + chapter));
    int end = text.indexOf("\n## ", 1);
    return DOCUMENTED
        .matcher(end < 0 ? text : text.substring(0, end))
        .results()
        .map(row -> row.group(1))
        .toList();
  }

  /** Each metric of the text is a sample of some service. */
  private static void assertExist(String what, String text) {
    List<String> named = OUR_METRIC.matcher(text).results().map(match -> match.group()).toList();
    assertThat(samples).as(what).containsAll(named);
  }

  /** The metrics of one service, as Prometheus scrapes them. */
  private record Scrape(List<String> lines) {

    /**
     * Declared names of our metrics; the maximum of a histogram is not counted as a metric of its
     * own.
     */
    Set<String> families() {
      Set<String> declared =
          lines.stream()
              .filter(line -> line.startsWith("# TYPE seckill_"))
              .map(line -> line.split(" ", -1)[2])
              .collect(toCollection(TreeSet::new));
      declared.removeIf(
          name -> name.endsWith("_max") && declared.contains(name.replaceAll("_max$", "")));
      return declared;
    }

    /** Names of samples of any metric, as queries use them. */
    Set<String> samples() {
      return lines.stream()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split("[{ ]", -1)[0])
          .collect(toCollection(TreeSet::new));
    }
  }
}
