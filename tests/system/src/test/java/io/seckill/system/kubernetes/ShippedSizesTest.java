package io.seckill.system.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.DeployedSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the shipped forms give a part is as much as its clients, or its own settings, may use. */
class ShippedSizesTest {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));

  /** For the owner of the tables, replicas, backups, monitoring and people. */
  private static final int OTHER_CONNECTIONS = 40;

  /** What a JVM needs beside heap and direct buffers: classes, code, threads. */
  private static final int REST_OF_A_JVM_MB = 256;

  /** How many of each service a form runs at most, one more of each during a rolling upgrade. */
  private record Form(int gateways, int consumers) {}

  private static Form form(String name) throws IOException {
    return switch (name) {
      case "up" -> new Form(1, 1);
      case "up --ha" -> new Form(2, 2);
      case "kubernetes, single" -> new Form(2, 2);
      case "kubernetes, production" -> new Form(mostGateways() + 1, replicas("order-consumer") + 1);
      default -> throw new IllegalArgumentException(name);
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"up", "up --ha", "kubernetes, single", "kubernetes, production"})
  void mysqlAllowsEveryConnectionOfTheServices(String name) throws IOException {
    Form form = form(name);

    assertThat(form.gateways() * gatewayPool())
        .as("gateways")
        .isLessThanOrEqualTo(allowed("seckill_gateway"));
    assertThat(form.consumers() * consumerPools())
        .as("consumers")
        .isLessThanOrEqualTo(allowed("seckill_consumer"));
  }

  /**
   * A COMMIT waits for the standby longer than the services wait for it; then they open another
   * connection. However many they leave behind, the standby can still log in.
   */
  @Test
  void servicesLeaveConnectionsToOthers() throws IOException {
    assertThat(allowed("seckill_gateway") + allowed("seckill_consumer") + OTHER_CONNECTIONS)
        .isLessThanOrEqualTo(maxConnections());
  }

  /** Pools grow to their bounds for seconds; gateways that nobody calls leave MySQL to others. */
  @ParameterizedTest
  @ValueSource(strings = {"gateway-service", "order-consumer"})
  void poolsOfIdleServicesShrink(String service) throws IOException {
    JsonNode pool = hikari(service);

    assertThat(pool.path("minimum-idle").asInt(-1)).isZero();
    assertThat(pool.path("idle-timeout").asInt()).isBetween(1, 10_000);
  }

  /** HikariCP warns of any other at each start. */
  @ParameterizedTest
  @ValueSource(strings = {"gateway-service", "order-consumer"})
  void connectionsLiveLongerThanTheyAreKeptAlive(String service) throws IOException {
    JsonNode pool = hikari(service);

    assertThat(pool.path("keepalive-time").asInt(120_000))
        .isLessThan(pool.path("max-lifetime").asInt());
  }

  @Test
  void jvmsFitIntoTheMemoryOfTheirPods() throws IOException {
    String kustomization = read("deploy/kubernetes/base/kustomization.yaml");
    int megabytes =
        number(kustomization, "-Xmx(\\d+)m")
            + number(kustomization, "-XX:MaxDirectMemorySize=(\\d+)m")
            + REST_OF_A_JVM_MB;

    for (String service : List.of("gateway-service", "relay-service", "order-consumer")) {
      JsonNode limit =
          object(service + ".yaml", "Deployment")
              .at("/spec/template/spec/containers/0/resources/limits/memory");
      assertThat(megabytes).as(service).isLessThanOrEqualTo(megabytes(limit));
    }
  }

  /** RabbitMQ's guide for quorum queues: three times the write-ahead log. */
  @Test
  void writeAheadLogFitsBelowTheWatermarkOfRabbitMq() throws IOException {
    JsonNode cluster = object("rabbitmq.yaml", "RabbitmqCluster");
    String settings = cluster.at("/spec/rabbitmq/additionalConfig").asString();
    double watermark =
        Double.parseDouble(group(settings, "vm_memory_high_watermark.relative = ([\\d.]+)"))
            * megabytes(cluster.at("/spec/resources/limits/memory"));

    assertThat(3 * number(settings, "raft.wal_max_size_bytes = (\\d+)") / 1_000_000.0)
        .isLessThanOrEqualTo(watermark);
  }

  private static int mostGateways() throws IOException {
    return object("../overlays/production/availability.yaml", "HorizontalPodAutoscaler")
        .at("/spec/maxReplicas")
        .asInt();
  }

  private static int replicas(String service) throws IOException {
    return Manifests.deployed("overlays/production/size.yaml").stream()
        .filter(object -> object.at("/metadata/name").asString().equals(service))
        .findFirst()
        .orElseThrow()
        .at("/spec/replicas")
        .asInt();
  }

  private static JsonNode object(String file, String kind) throws IOException {
    return Manifests.deployed("base/" + file).stream()
        .filter(object -> object.at("/kind").asString().equals(kind))
        .findFirst()
        .orElseThrow();
  }

  private static int gatewayPool() throws IOException {
    return hikari("gateway-service").path("maximum-pool-size").asInt();
  }

  private static JsonNode hikari(String service) throws IOException {
    Map<String, Object> settings =
        new Yaml().load(read(service + "/src/main/resources/application.yml"));
    return JsonMapper.shared().<JsonNode>valueToTree(settings).at("/spring/datasource/hikari");
  }

  /** ConnectionPoolsTest compares the documented number with the pools. */
  private static int consumerPools() throws IOException {
    return number(read("docs/configuration.md"), "(\\d+) connections in all");
  }

  private static int allowed(String user) throws IOException {
    return number(
        read("deploy/mysql/users.sql"),
        "ALTER USER '" + user + "'@'%' .*MAX_USER_CONNECTIONS (\\d+)");
  }

  private static int maxConnections() {
    return number(String.join("\n", DeployedSettings.mysql()), "max_connections = (\\d+)");
  }

  private static int megabytes(JsonNode quantity) {
    String text = quantity.asString();
    int number = Integer.parseInt(text.substring(0, text.length() - 2));
    return text.endsWith("Gi") ? number * 1024 : number;
  }

  private static int number(String text, String pattern) {
    return Integer.parseInt(group(text, pattern));
  }

  private static String group(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(pattern).isTrue();
    return matcher.group(1);
  }

  private static String read(String file) throws IOException {
    return Files.readString(ROOT.resolve(file));
  }
}
