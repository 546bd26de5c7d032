package io.seckill.system.observability;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks that each alert rule is tested: by promtool, in the checks of the scripts, and by a fault.
 */
class AlertRulesTest {

  private static final Path DEPLOYED =
      Path.of(System.getProperty("seckill.root"), "deploy/observability");
  private static final List<String> TESTS = List.of("alerts.test.yml", "alerts-hours.test.yml");

  @Test
  void everyAlertIsTriedSilentAndFiring() throws IOException {
    Set<String> silent = new TreeSet<>();
    Set<String> firing = new TreeSet<>();
    for (String file : TESTS) {
      for (JsonNode test : yaml(file).path("tests")) {
        for (JsonNode look : test.path("alert_rule_test")) {
          (look.has("exp_alerts") ? firing : silent).add(look.path("alertname").asString());
        }
      }
    }
    Set<String> alerts = new TreeSet<>();
    yaml("alerts.yml")
        .at("/groups/0/rules")
        .forEach(rule -> alerts.add(rule.path("alert").asString()));

    assertThat(alerts).isNotEmpty();
    assertThat(firing).as("alerts that are tested firing").isEqualTo(alerts);
    assertThat(silent).as("alerts that are tested silent").isEqualTo(alerts);
  }

  @Test
  void aRealFaultRaisesEveryAlert() throws IOException {
    Path tests =
        Path.of(System.getProperty("seckill.root"), "tests/system/src/test/java/io/seckill/system");
    String rows =
        Files.readString(tests.resolve("faults/AlertFaultsIT.java"))
            + Files.readString(tests.resolve("ha/HaAlertFaultsIT.java"));

    yaml("alerts.yml")
        .at("/groups/0/rules")
        .valueStream()
        .map(rule -> rule.path("alert").asString())
        .forEach(alert -> assertThat(rows).contains('"' + alert + '"'));
  }

  /** Prometheus needs two samples within a window, and commonly takes one in 15 s to a minute. */
  @Test
  void everyWindowHasSamplesAtTheUsualScrapeIntervals() throws IOException {
    Pattern window = Pattern.compile("\\[([$]__rate_interval|\\d+[smhd])]");
    List<String> expressions = new ArrayList<>();
    yaml("alerts.yml")
        .at("/groups/0/rules")
        .forEach(rule -> expressions.add(rule.path("expr").asString()));
    JsonMapper.shared()
        .readTree(Files.readString(DEPLOYED.resolve("grafana/dashboards/seckill.json")))
        .findValues("expr")
        .forEach(expression -> expressions.add(expression.asString()));

    assertThat(expressions)
        .flatExtracting(text -> window.matcher(text).results().map(one -> one.group(1)).toList())
        .isNotEmpty()
        .allMatch(text -> text.equals("$__rate_interval") || text.matches("([2-9]|\\d\\d)m|\\dh"));
  }

  static JsonNode yaml(String file) throws IOException {
    return JsonMapper.shared()
        .valueToTree(new Yaml().load(Files.readString(DEPLOYED.resolve(file))));
  }
}
