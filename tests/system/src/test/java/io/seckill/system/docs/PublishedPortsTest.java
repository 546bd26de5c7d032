package io.seckill.system.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Ports that others than this project's services reach. */
class PublishedPortsTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Pattern PUBLISHED =
      Pattern.compile("127\\.0\\.0\\.1:\\$\\{([A-Z0-9_]+)_PORT(?::-(\\d+))?}:\\d+");
  private static final String FILTER =
      "order-consumer/src/main/java/io/seckill/consumer/web/InternalTokenFilter.java";
  private static final Pattern CALLBACK = Pattern.compile("CALLBACK = \"(.+)\"");
  private static final Pattern CHOSEN = Pattern.compile("(?m)^([A-Z0-9_]+) +(\\d{5}) ");

  /** All containers, observability included, run on one machine. */
  @Test
  void noTwoServicesOfTheComposeFileWantTheSamePort() throws IOException {
    JsonNode services =
        JsonMapper.shared()
            .<JsonNode>valueToTree(
                new Yaml().<Map<String, Object>>load(read("deploy/compose.yaml")))
            .path("services");
    String settings = read("scripts/lib/settings.sh");
    List<String> variables = new ArrayList<>();
    List<String> ports = new ArrayList<>();
    for (JsonNode service : services) {
      for (JsonNode port : service.path("ports")) {
        Matcher published = PUBLISHED.matcher(port.asString());
        assertThat(published.matches()).as("%s", port).isTrue();
        variables.add(published.group(1));
        ports.add(port(published, settings));
      }
    }

    assertThat(ports).contains("18080").doesNotHaveDuplicates();
    assertThat(variables).doesNotHaveDuplicates();
  }

  /** The port that scripts/up sets, or else the default of the compose file. */
  private static String port(MatchResult published, String settings) {
    return CHOSEN
        .matcher(settings)
        .results()
        .filter(chosen -> chosen.group(1).equals(published.group(1)))
        .map(chosen -> chosen.group(2))
        .findFirst()
        .orElseGet(() -> String.valueOf(published.group(2)));
  }

  /** The provider of payments has no internal token, and comes from outside. */
  @Test
  void startNamesThePathThatTheLoadBalancerPassesToOrderConsumer() throws IOException {
    Matcher callback = CALLBACK.matcher(read(FILTER));
    assertThat(callback.find()).isTrue();

    assertThat(read("docs/start.md")).contains("order-consumer's `" + callback.group(1) + "`");
  }

  private static String read(String path) throws IOException {
    return Files.readString(ROOT.resolve(path));
  }
}
