package io.seckill.system.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders the overlays of deploy/kubernetes and checks what the API and a cluster would see. */
class KubernetesManifestsTest {

  private static List<JsonNode> production;

  @BeforeAll
  static void render() throws Exception {
    assumeThat(Manifests.canRender()).as("kubectl, of Debian's package kubernetes-client").isTrue();
    production = Manifests.render("production");
  }

  @Test
  void productionHasNoProblem() throws Exception {
    assertThat(ManifestProblems.in(production)).isEmpty();
  }

  @Test
  void singleHasNoProblem() throws Exception {
    assertThat(ManifestProblems.in(Manifests.render("single"))).isEmpty();
  }

  @Test
  void everyDocumentedSecretIsUsed() throws Exception {
    String rendered = production.toString();

    assertThat(DocumentedSettings.secrets().keySet())
        .hasSize(6)
        .allSatisfy(name -> assertThat(rendered).contains("\"secretName\":\"" + name + "\""));
  }

  /** Else the rollout, and the upgrade with it, fails while the migration waits for locks. */
  @Test
  void aRolloutOfOrderConsumerMayLastLongerThanItsMigrationWaits() throws IOException {
    Path source =
        Path.of(
            System.getProperty("seckill.root"),
            "order-consumer/src/main/java/io/seckill/consumer/runtime/MigrationDataSource.java");
    Matcher waits =
        Pattern.compile("LONGEST_WAIT = Duration\\.ofHours\\((\\d+)\\)")
            .matcher(Files.readString(source));
    assertThat(waits.find()).isTrue();

    long deadline =
        byName(production)
            .get("Deployment/order-consumer")
            .at("/spec/progressDeadlineSeconds")
            .asLong(600); // the default
    assertThat(Duration.ofSeconds(deadline))
        .isGreaterThan(Duration.ofHours(Long.parseLong(waits.group(1))));
  }

  /** In the maps as the cluster gets them, with any properties of the base. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          REDIS_SCHEME          | rediss
          SECKILL_REDIS_CAFILE  | /run/ca/ca.pem
          BROKER_SCHEME         | amqps
          BROKER_ADDRESS        | rabbitmq:5671
          SECKILL_BROKER_CAFILE | /run/ca/ca.pem
          MYSQL_TLS             | sslMode=VERIFY_IDENTITY&fallbackToSystemTrustStore=false&
          SECKILL_REDIS_NODES   | rediss://${REDIS_USER}:${redis-password}@
          """)
  void productionEncryptsEveryConnectionToAStore(String name, String begin) {
    JsonNode stores = byName(production).get("ConfigMap/stores");

    assertThat(stores.path("data").path(name).asString()).startsWith(begin);
    assertThat(production.toString())
        .doesNotContain("=redis://", "\"redis://", "\"amqp://")
        .contains("\"tls\":{\"secretName\":\"rabbitmq-tls\"}");
  }

  /** Registry, addresses, certificates and volumes: nothing of this project can know them. */
  @Test
  void everyLineOfProductionThatMustBeChangedIsMarked() throws IOException {
    assertThat(Manifests.lines("overlays/production"))
        .filteredOn(
            line ->
                line.matches(
                    ".*(example\\.com|_MASTER=|secretName: rabbitmq-tls|name: ca}|storage: |metadata.name: ).*"))
        .filteredOn(line -> !line.strip().startsWith("#"))
        .hasSizeGreaterThan(8)
        .allSatisfy(line -> assertThat(line).contains("# yours"));
  }

  /** Debian's promtool cannot read it: it is built without this discovery. */
  @Test
  void prometheusFindsTheJobsThatTheAlertsName() throws IOException {
    JsonNode rules =
        Manifests.deployed("../observability/prometheus-kubernetes.yml")
            .get(0)
            .at("/scrape_configs/0/relabel_configs");
    String phases = rules.at("/1/regex").asString();
    assertThat(List.of("Pending", "Running")).noneMatch(phase -> phase.matches(phases));
    String port = rules.at("/0/regex").asString();
    List<Pod> kept =
        production.stream()
            .flatMap(object -> Pod.of(object).stream())
            .filter(
                pod ->
                    pod.ports().stream().anyMatch(name -> (name + ";" + name(pod)).matches(port)))
            .toList();
    assertThat("management;rabbitmq").as("a port of the Cluster Operator").doesNotMatch(port);

    assertThat(kept)
        .extracting(
            pod ->
                name(pod)
                    .replaceFirst(
                        rules.at("/2/regex").asString(), rules.at("/2/replacement").asString()))
        .containsExactlyInAnyOrder("gateway", "relay", "consumer");
  }

  private static String name(Pod pod) {
    return String.valueOf(pod.labels().get("app.kubernetes.io/name"));
  }

  /**
   * The pods of the Cluster Operator have the cluster's name as label, and the port of the policy.
   */
  @Test
  void prometheusFindsRabbitMq() throws IOException {
    JsonNode rabbit = job("rabbitmq");
    Map<String, JsonNode> objects = byName(production);
    String name = objects.get("RabbitmqCluster/rabbitmq").at("/metadata/name").asString();
    String port =
        objects.get("NetworkPolicy/rabbitmq").at("/spec/ingress/2/ports/0/port").asString();

    assertThat(rabbit.at("/relabel_configs/0/regex").asString()).isEqualTo(name + ";" + port);
    assertThat(rabbit.path("params"))
        .isEqualTo(
            Manifests.deployed("../observability/prometheus.yml")
                .get(0)
                .at("/scrape_configs/3/params"));
  }

  /** A kubelet has the volumes of every namespace. */
  @Test
  void prometheusKeepsTheVolumesOfThisNamespaceAlone() throws IOException {
    JsonNode rule = job("kubelet").at("/metric_relabel_configs/1");
    JsonNode rabbit = byName(production).get("RabbitmqCluster/rabbitmq");

    assertThat(rule.path("source_labels").toString()).isEqualTo("[\"namespace\"]");
    assertThat(rule.path("action").asString()).isEqualTo("keep");
    assertThat(rabbit.at("/metadata/namespace").asString()).matches(rule.path("regex").asString());
    assertThat("other").doesNotMatch(rule.path("regex").asString());
  }

  private static JsonNode job(String name) throws IOException {
    return Manifests.deployed("../observability/prometheus-kubernetes.yml")
        .get(0)
        .path("scrape_configs")
        .valueStream()
        .filter(job -> job.path("job_name").asString().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(strings = {"prometheus.yml", "prometheus-kubernetes.yml"})
  void prometheusHasAPlaceForTheAddressOfAnAlertmanager(String file) throws IOException {
    JsonNode targets =
        Manifests.deployed("../observability/" + file)
            .get(0)
            .at("/alerting/alertmanagers/0/static_configs/0/targets");

    assertThat(targets.isArray()).isTrue();
  }

  /** Replaces a value of the production overlay, or removes it. */
  @ParameterizedTest(name = "{0}: {3}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # what is changed                     | where                                                    | to                    | what the check says
          Deployment/gateway-service            | /spec/template/spec/containers/0/readynessProbe          | {}                    | readynessProbe
          Deployment/gateway-service            | /spec/selector                                           |                       | `selector` is not found
          Deployment/gateway-service            | /spec/template/spec/containers/0/ports/0/containerPort   | "eighty"              | Deployment gateway-service
          PodDisruptionBudget/relay-service     | /spec/maxUnavailble                                      | 1                     | maxUnavailble
          RabbitmqCluster/rabbitmq              | /spec/rabbitmq/additionalConf                            | "a = b"               | unknown field spec.rabbitmq.additionalConf
          RabbitmqCluster/rabbitmq              | /spec/override/statefulSet/spec/template/spec/volume     | []                    | volume
          HorizontalPodAutoscaler/gateway-service | /apiVersion                                            | "autoscaling/v2beta2" | unknown type
          Deployment/order-consumer             | /spec/template/metadata/labels/app.kubernetes.io~1name   | "consumer"            | does not select its pods
          Deployment/relay-service              | /spec/template/spec/topologySpreadConstraints/0/labelSelector/matchLabels/app.kubernetes.io~1name | "relay" | does not spread its pods
          Service/gateway-service               | /spec/selector/app.kubernetes.io~1name                   | "gateway"             | selects no pods
          Service/order-consumer                | /spec/ports/0/targetPort                                 | "http"                | names port http
          PodDisruptionBudget/rabbitmq          | /spec/selector/matchLabels/app.kubernetes.io~1name       | "rabbit"              | selects no pods
          PodDisruptionBudget/rabbitmq          | /spec/maxUnavailable                                     | 2                     | lets several pods be evicted
          NetworkPolicy/order-consumer          | /spec/ingress/0/from/0/podSelector/matchLabels/app.kubernetes.io~1name | "gateway" | selects no pods
          NetworkPolicy/gateway-service         | /spec/egress/0/ports/0/port                              | 8080                  | names port 8080 unlike order-consumer
          NetworkPolicy/gateway-service         | /spec/ingress/1/from                                     |                       | lets everybody in
          NetworkPolicy/payment-callbacks       | /spec/ingress/0/from                                     |                       | lets everybody in
          NetworkPolicy/default-deny            | /spec/policyTypes/1                                      |                       | no NetworkPolicy denies
          NetworkPolicy/default-deny            | /spec/podSelector/matchExpressions/0/values/1            |                       | no NetworkPolicy denies what no other allows, at relay-service
          NetworkPolicy/default-deny            | /spec/podSelector                                        | {}                    | binds pods that are not ours
          NetworkPolicy/dns                     | /spec/podSelector                                        | {}                    | binds pods that are not ours
          NetworkPolicy/dns                     | /spec/egress/0/to                                        | [{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}] | ask DNS wherever it runs
          HorizontalPodAutoscaler/gateway-service | /spec/scaleTargetRef/name                              | "gateway"             | has no target
          Deployment/gateway-service            | /spec/replicas                                           | 3                     | whose replicas are set
          ServiceAccount/relay-service          | /metadata/name                                           | "relay"               | names no ServiceAccount
          ServiceAccount/relay-service          | /automountServiceAccountToken                            |                       | token is mounted
          ConfigMap/stores                      | /metadata/name                                           | "stores"              | wants a ConfigMap stores-
          ConfigMap/stores                      | /data/MYSQL_ADDRESS                                      |                       | has no value of MYSQL_ADDRESS
          ConfigMap/gateway-service             | /data/SECKILL_ADMISSION_QUEUE                            | "1"                   | sets SECKILL_ADMISSION_QUEUE
          ConfigMap/relay-service               | /data/SECKILL_INTERNAL_TOKEN                             | "x"                   | sets SECKILL_INTERNAL_TOKEN
          ConfigMap/jvm                         | /data/JAVA_TOOL_OPTIONS                                  | "-Xmx512m"            | other JVM flags
          Deployment/relay-service              | /spec/template/spec/volumes/1/secret/items/0/key         | "password"            | wants a Secret relay-service
          Deployment/relay-service              | /spec/template/spec/volumes/0                            |                       | mounts
          Deployment/order-consumer             | /spec/template/spec/containers/0/volumeMounts/1/name     | "migration"           | runs with the password of the tables' owner
          Deployment/order-consumer             | /spec/template/spec/initContainers/0/securityContext/readOnlyRootFilesystem | false | may write
          Deployment/order-consumer             | /spec/template/spec/initContainers/0/image               | "r/order-consumer"    | not pinned
          ConfigMap/migration                   | /data/SPRING_FLYWAY_PASSWORD                             | "${none}"             | has no value of none
          Deployment/gateway-service            | /spec/template/spec/containers/0/image                   | "r/gateway-service"   | not pinned
          Deployment/gateway-service            | /spec/template/spec/containers/0/image                   | "r/gateway-service:latest" | not pinned
          RabbitmqCluster/rabbitmq              | /spec/image                                              | "rabbitmq"            | not pinned
          RabbitmqCluster/rabbitmq              | /spec/rabbitmq/additionalConfig                          | "heartbeat = 10"      | lacks the setting consumer_timeout
          Deployment/relay-service              | /spec/template/spec/containers/0/readinessProbe/httpGet/port | "health"          | readinessProbe asks port 'health'
          Deployment/relay-service              | /spec/template/spec/containers/0/livenessProbe/httpGet/path  | "/actuator/health" | asks more than the process
          Deployment/gateway-service            | /spec/template/spec/terminationGracePeriodSeconds        | 45                    | has only 35 s to stop
          ConfigMap/gateway-service             | /data/SECKILL_SHUTDOWN_DELAY                             | "30s"                 | has only 30 s to stop
          Deployment/gateway-service            | /spec/template/spec/enableServiceLinks                   |                       | has service links
          Deployment/gateway-service            | /spec/template/spec/securityContext/runAsNonRoot         | false                 | may run as root
          Deployment/gateway-service            | /spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem | false  | may write
          Deployment/gateway-service            | /spec/template/spec/containers/0/resources/limits/memory | "512Mi"               | half of its memory
          Service/gateway-admin                 | /metadata/namespace                                      |                       | is in no namespace
          """)
  void findsAMistake(String object, String pointer, String value, String problem)
      throws IOException {
    Map<String, JsonNode> objects = byName(production);
    assertThat(objects).containsKey(object);
    change(objects.get(object), pointer, value);

    assertThat(ManifestProblems.in(List.copyOf(objects.values())))
        .anySatisfy(line -> assertThat(line).contains(problem));
  }

  /** By kind and name, without the hash of a ConfigMap's content. */
  private static Map<String, JsonNode> byName(List<JsonNode> objects) {
    Map<String, JsonNode> names = new TreeMap<>();
    for (JsonNode object : objects) {
      String kind = object.path("kind").asString();
      String name = object.at("/metadata/name").asString();
      names.put(
          kind + "/" + (kind.equals("ConfigMap") ? name.replaceFirst("-[^-]+$", "") : name),
          object.deepCopy());
    }
    return names;
  }

  private static void change(JsonNode object, String pointer, String value) {
    int slash = pointer.lastIndexOf('/');
    JsonNode parent = object.at(pointer.substring(0, slash));
    String field = pointer.substring(slash + 1).replace("~1", "/");
    if (parent instanceof ArrayNode array) {
      array.remove(Integer.parseInt(field));
    } else if (value == null) {
      ((ObjectNode) parent).remove(field);
    } else {
      ((ObjectNode) parent).set(field, JsonMapper.shared().readTree(value));
    }
  }
}
