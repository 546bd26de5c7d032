package io.seckill.system.kubernetes;

import io.seckill.testing.DeployedSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.convert.DurationStyle;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Finds what the API would refuse in a set of objects, and what cannot work together. */
final class ManifestProblems {

  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([A-Za-z_.-]+)}");
  private static final Pattern PINNED = Pattern.compile(".+:(?!latest$)[^:/@]+");

  /** Parts of addresses; a container uses those of its stores. */
  private static final Set<String> STORES =
      Set.of(
          "JAVA_TOOL_OPTIONS",
          "REDIS_SCHEME",
          "REDIS_ADDRESS",
          "BROKER_SCHEME",
          "BROKER_ADDRESS",
          "MYSQL_ADDRESS",
          "MYSQL_TLS");

  private static final String LIVENESS = "/actuator/health/liveness";

  /** A pod of this namespace that no overlay makes. */
  private static final Pod STORE_OF_SOMEBODY =
      new Pod(
          "redis",
          Map.of("app.kubernetes.io/name", "redis"),
          Set.of("6379"),
          JsonMapper.shared().missingNode());

  private final List<JsonNode> objects;
  private final List<Pod> pods;
  private final List<String> found = new ArrayList<>();

  private ManifestProblems(List<JsonNode> objects) {
    this.objects = objects;
    this.pods = objects.stream().flatMap(object -> Pod.of(object).stream()).toList();
  }

  /** One line for each problem. */
  static List<String> in(List<JsonNode> objects) throws IOException {
    ManifestProblems problems = new ManifestProblems(objects);
    for (JsonNode object : objects) {
      problems.checkObject(object);
    }
    problems.checkDefaultDeny();
    return problems.found;
  }

  private void checkObject(JsonNode object) throws IOException {
    ApiTypes.refusal(object).ifPresent(refusal -> problem(object, refusal));
    expect("seckill".equals(text(object, "/metadata/namespace")), object, "is in no namespace");
    switch (object.path("kind").asString()) {
      case "Deployment" -> checkDeployment(object);
      case "RabbitmqCluster" -> checkRabbitmq(object);
      case "Service" -> checkService(object);
      case "NetworkPolicy" -> checkNetworkPolicy(object);
      case "PodDisruptionBudget" -> checkDisruptionBudget(object);
      case "HorizontalPodAutoscaler" -> checkAutoscaler(object);
      default -> {}
    }
  }

  private void checkDeployment(JsonNode object) throws IOException {
    Pod pod = Pod.of(object).orElseThrow();
    expect(pod.isSelectedBy(object.at("/spec/selector")), object, "does not select its pods");
    checkSpread(object, pod);
    JsonNode spec = pod.spec();
    expect(
        named("ServiceAccount", text(spec, "/serviceAccountName"))
            .noneMatch(account -> account.path("automountServiceAccountToken").asBoolean(true)),
        object,
        "has a ServiceAccount whose token is mounted");
    expect(
        named("ServiceAccount", text(spec, "/serviceAccountName")).findAny().isPresent(),
        object,
        "names no ServiceAccount");
    expect(!spec.path("enableServiceLinks").asBoolean(true), object, "has service links");
    expect(spec.at("/securityContext/runAsNonRoot").asBoolean(false), object, "may run as root");
    expect(
        text(spec, "/securityContext/seccompProfile/type").equals("RuntimeDefault"),
        object,
        "has no seccomp profile");
    checkVolumes(object, pod);
    for (JsonNode container : spec.path("initContainers")) {
      checkContainer(object, pod, container);
    }
    for (JsonNode container : spec.path("containers")) {
      checkContainer(object, pod, container);
      checkRunning(object, pod, container);
    }
  }

  private void checkContainer(JsonNode object, Pod pod, JsonNode container) throws IOException {
    checkImage(object, text(container, "/image"));
    expect(
        text(container, "/image").endsWith("/" + pod.owner() + ":" + DocumentedSettings.version()),
        object,
        "does not run this project's version");
    JsonNode context = container.path("securityContext");
    expect(
        context.path("readOnlyRootFilesystem").asBoolean(false)
            && !context.path("allowPrivilegeEscalation").asBoolean(true)
            && context.at("/capabilities/drop").toString().equals("[\"ALL\"]"),
        object,
        "has a container that may write or gain rights");
    Map<String, String> environment = environment(object, container);
    checkSettings(object, pod, container, environment);
    checkMemory(object, container, environment.getOrDefault("JAVA_TOOL_OPTIONS", ""));
  }

  /** What holds for a container that runs as long as its pod. */
  private void checkRunning(JsonNode object, Pod pod, JsonNode container) throws IOException {
    checkProbes(object, pod, container);
    expect(
        !files(pod, container).contains("spring.flyway.password"),
        object,
        "runs with the password of the tables' owner");
    String delay = environment(object, container).getOrDefault("SECKILL_SHUTDOWN_DELAY", "0s");
    long toStop =
        pod.spec().path("terminationGracePeriodSeconds").asInt(30)
            - DurationStyle.detectAndParse(delay).toSeconds();
    expect(
        toStop >= DocumentedSettings.secondsToStop(), object, "has only " + toStop + " s to stop");
  }

  private void checkProbes(JsonNode object, Pod pod, JsonNode container) {
    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      String port = text(container, "/" + probe + "/httpGet/port");
      expect(pod.ports().contains(port), object, probe + " asks port '" + port + "'");
    }
    expect(
        text(container, "/livenessProbe/httpGet/path").equals(LIVENESS),
        object,
        "livenessProbe asks more than the process");
  }

  private void checkVolumes(JsonNode object, Pod pod) throws IOException {
    Set<String> volumes = new HashSet<>();
    for (JsonNode volume : pod.spec().path("volumes")) {
      volumes.add(volume.path("name").asString());
      checkSecret(object, volume.path("secret"));
    }
    Set<String> mounted = new HashSet<>();
    for (String kind : List.of("initContainers", "containers")) {
      pod.spec().path(kind).forEach(container -> mounted.addAll(mounts(container)));
    }
    expect(volumes.equals(mounted), object, "mounts " + mounted + " of the volumes " + volumes);
  }

  private static Set<String> mounts(JsonNode container) {
    Set<String> mounts = new HashSet<>();
    container.path("volumeMounts").forEach(mount -> mounts.add(mount.path("name").asString()));
    return mounts;
  }

  /** The files of the Secrets that a container mounts. */
  private static Set<String> files(Pod pod, JsonNode container) {
    Set<String> files = new HashSet<>();
    for (JsonNode volume : pod.spec().path("volumes")) {
      if (mounts(container).contains(volume.path("name").asString())) {
        volume.at("/secret/items").forEach(item -> files.add(item.path("path").asString()));
      }
    }
    return files;
  }

  private void checkSecret(JsonNode object, JsonNode secret) throws IOException {
    if (!secret.isMissingNode()) {
      Set<String> keys = new HashSet<>();
      secret.path("items").forEach(item -> keys.add(item.path("key").asString()));
      String name = text(secret, "/secretName");
      expect(
          keys.equals(DocumentedSettings.secrets().get(name)),
          object,
          "wants a Secret %s with %s, unlike docs/operations.md".formatted(name, keys));
    }
  }

  private Map<String, String> environment(JsonNode object, JsonNode container) {
    Map<String, String> environment = new HashMap<>();
    expect(container.path("env").isMissingNode(), object, "has settings beside its ConfigMaps");
    for (JsonNode source : container.path("envFrom")) {
      String name = text(source, "/configMapRef/name");
      expect(named("ConfigMap", name).findAny().isPresent(), object, "wants a ConfigMap " + name);
      named("ConfigMap", name).forEach(map -> environment.putAll(Pod.texts(map.path("data"))));
    }
    return environment;
  }

  /** Every variable and every file is a property of the service, or part of the value of one. */
  private void checkSettings(
      JsonNode object, Pod pod, JsonNode container, Map<String, String> environment)
      throws IOException {
    Set<String> files = files(pod, container);
    Set<String> parts = new HashSet<>();
    environment.forEach(
        (name, value) -> {
          if (container.path("args").isMissingNode() || !name.startsWith("SECKILL_")) {
            PLACEHOLDER.matcher(value).results().forEach(part -> parts.add(part.group(1)));
          } // else the migration: it reads nothing of the services
        });
    for (String part : parts) {
      expect(
          files.contains(part) || environment.containsKey(part), object, "has no value of " + part);
    }
    Set<String> known = new HashSet<>(DocumentedSettings.properties(pod.owner()));
    known.addAll(known.stream().map(DocumentedSettings::variable).toList());
    known.addAll(parts);
    known.addAll(STORES);
    Stream.concat(files.stream(), environment.keySet().stream())
        .filter(name -> !known.contains(name))
        .forEach(name -> problem(object, "sets " + name + ", which is no property of it"));
  }

  /** The JVM needs as much again as its heap: code, classes, threads, buffers. */
  private void checkMemory(JsonNode object, JsonNode container, String flags) throws IOException {
    expect(
        List.of(flags.split(" ", -1)).containsAll(DocumentedSettings.jvmFlags()),
        object,
        "has other JVM flags than scripts/up");
    String heap = flags.replaceFirst(".*-Xmx(\\d+)m.*", "$1");
    expect(
        text(container, "/resources/limits/memory").equals("1Gi") && heap.equals("512"),
        object,
        "has a heap that is not half of its memory");
    expect(
        !text(container, "/resources/requests/cpu").isEmpty()
            && text(container, "/resources/requests/memory").equals("1Gi"),
        object,
        "does not request what it needs");
  }

  private void checkRabbitmq(JsonNode object) throws IOException {
    Pod pod = Pod.of(object).orElseThrow();
    checkImage(object, text(object, "/spec/image"));
    checkSpread(object, pod);
    checkVolumes(object, pod);
    List<String> settings =
        text(object, "/spec/rabbitmq/additionalConfig").lines().map(String::strip).toList();
    DeployedSettings.rabbit().stream()
        .filter(line -> !line.startsWith("log."))
        .filter(line -> !settings.contains(line))
        .forEach(line -> problem(object, "lacks the setting " + line));
  }

  private void checkImage(JsonNode object, String image) {
    expect(PINNED.matcher(image).matches(), object, "runs '" + image + "', which is not pinned");
  }

  private void checkSpread(JsonNode object, Pod pod) {
    for (JsonNode constraint : pod.spec().path("topologySpreadConstraints")) {
      expect(
          pod.isSelectedBy(constraint.path("labelSelector")), object, "does not spread its pods");
    }
  }

  private void checkService(JsonNode object) {
    JsonNode labels = object.at("/spec/selector");
    List<Pod> behind =
        pods.stream()
            .filter(pod -> pod.labels().entrySet().containsAll(Pod.texts(labels).entrySet()))
            .toList();
    expect(!behind.isEmpty(), object, "selects no pods");
    for (JsonNode port : object.at("/spec/ports")) {
      checkPort(object, text(port, "/targetPort"), behind);
    }
  }

  private void checkNetworkPolicy(JsonNode object) {
    List<Pod> subjects = selected(object, object.at("/spec/podSelector"));
    expect(
        !STORE_OF_SOMEBODY.isSelectedBy(object.at("/spec/podSelector")),
        object,
        "binds pods that are not ours");
    for (JsonNode rule : object.at("/spec/ingress")) {
      expect(
          !rule.path("from").isEmpty() || text(rule, "/ports/0/port").equals("shop"),
          object,
          "lets everybody in at a port that is not for shoppers");
      checkPeers(object, rule.path("from"));
      rule.path("ports").forEach(port -> checkPort(object, text(port, "/port"), subjects));
    }
    for (JsonNode rule : object.at("/spec/egress")) {
      List<Pod> peers = checkPeers(object, rule.path("to"));
      rule.path("ports").forEach(port -> checkPort(object, text(port, "/port"), peers));
    }
  }

  private List<Pod> checkPeers(JsonNode object, JsonNode peers) {
    List<Pod> known = new ArrayList<>();
    for (JsonNode peer : peers) {
      if (peer.has("podSelector") && !peer.has("namespaceSelector")) {
        known.addAll(selected(object, peer.path("podSelector")));
      }
    }
    return known;
  }

  private void checkPort(JsonNode object, String port, List<Pod> served) {
    for (Pod pod : served) {
      expect(pod.ports().contains(port), object, "names port " + port + " unlike " + pod.owner());
    }
  }

  private void checkDisruptionBudget(JsonNode object) {
    selected(object, object.at("/spec/selector"));
    expect(
        text(object, "/spec/maxUnavailable").equals("1"), object, "lets several pods be evicted");
  }

  private void checkAutoscaler(JsonNode object) {
    List<JsonNode> targets =
        named(text(object, "/spec/scaleTargetRef/kind"), text(object, "/spec/scaleTargetRef/name"))
            .toList();
    expect(
        targets.size() == 1 && targets.get(0).at("/spec/replicas").isMissingNode(),
        object,
        "has no target, or one whose replicas are set");
  }

  private void checkDefaultDeny() {
    for (Pod pod : pods) {
      boolean denied =
          policies(pod)
              .anyMatch(
                  policy ->
                      policy.path("spec").size() == 2
                          && policy.at("/spec/policyTypes").size() == 2);
      if (!denied) {
        found.add("no NetworkPolicy denies what no other allows, at " + pod.owner());
      }
      boolean asksDns =
          policies(pod)
              .flatMap(policy -> policy.at("/spec/egress").valueStream())
              .anyMatch(rule -> !rule.has("to") && allowsDns(rule));
      if (!asksDns) {
        found.add("no NetworkPolicy lets " + pod.owner() + " ask DNS wherever it runs");
      }
    }
  }

  private static boolean allowsDns(JsonNode rule) {
    return rule.path("ports")
        .valueStream()
        .anyMatch(
            port -> text(port, "/protocol").equals("UDP") && text(port, "/port").equals("53"));
  }

  private Stream<JsonNode> policies(Pod pod) {
    return objects.stream()
        .filter(object -> object.path("kind").asString().equals("NetworkPolicy"))
        .filter(policy -> pod.isSelectedBy(policy.at("/spec/podSelector")));
  }

  private List<Pod> selected(JsonNode object, JsonNode selector) {
    List<Pod> selected = pods.stream().filter(pod -> pod.isSelectedBy(selector)).toList();
    expect(!selected.isEmpty(), object, "selects no pods");
    return selected;
  }

  private Stream<JsonNode> named(String kind, String name) {
    return objects.stream()
        .filter(object -> object.path("kind").asString().equals(kind))
        .filter(object -> text(object, "/metadata/name").equals(name));
  }

  private static String text(JsonNode node, String pointer) {
    return node.at(pointer).asString("");
  }

  private void expect(boolean isTrue, JsonNode object, String otherwise) {
    if (!isTrue) {
      problem(object, otherwise);
    }
  }

  private void problem(JsonNode object, String problem) {
    found.add(
        String.join(" ", object.path("kind").asString(), text(object, "/metadata/name"), problem));
  }
}
