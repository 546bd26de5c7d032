package io.seckill.system.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.seckill.testing.Bounded;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the alert rules with Prometheus's promtool. */
class AlertRulesTest {

  private static final Path DEPLOYED =
      Path.of(System.getProperty("seckill.root"), "deploy/observability");
  private static final String TESTS = "alerts.test.yml";

  @Test
  void alertsFireBeyondTheirBoundsOnly() throws Exception {
    assumeThat(isInstalled("promtool")).as("promtool, of Debian's package prometheus").isTrue();
    Process promtool =
        new ProcessBuilder("promtool", "test", "rules", TESTS)
            .directory(DEPLOYED.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(Bounded.waitFor(promtool)).as(said).isZero();
  }

  @Test
  void everyAlertIsTriedSilentAndFiring() throws IOException {
    Set<String> silent = new TreeSet<>();
    Set<String> firing = new TreeSet<>();
    for (JsonNode test : yaml(TESTS).path("tests")) {
      for (JsonNode look : test.path("alert_rule_test")) {
        (look.has("exp_alerts") ? firing : silent).add(look.path("alertname").asString());
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

  private static boolean isInstalled(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private static JsonNode yaml(String file) throws IOException {
    return JsonMapper.shared()
        .valueToTree(new Yaml().load(Files.readString(DEPLOYED.resolve(file))));
  }
}
