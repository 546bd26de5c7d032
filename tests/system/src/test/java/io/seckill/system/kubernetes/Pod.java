package io.seckill.system.kubernetes;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * The pods of a Deployment, or of a RabbitmqCluster as its operator makes them.
 *
 * @param owner name of the object that makes them
 * @param ports names and numbers of their ports
 * @param spec what the object says of them
 */
record Pod(String owner, Map<String, String> labels, Set<String> ports, JsonNode spec) {

  private static final Set<String> RABBITMQ_PORTS =
      Set.of("4369", "5671", "5672", "15672", "15692", "25672", "35672");

  static Optional<Pod> of(JsonNode object) {
    String name = object.at("/metadata/name").asString();
    return switch (object.path("kind").asString()) {
      case "Deployment" ->
          Optional.of(
              new Pod(
                  name,
                  texts(object.at("/spec/template/metadata/labels")),
                  ports(object.at("/spec/template/spec/containers")),
                  object.at("/spec/template/spec")));
      case "RabbitmqCluster" ->
          Optional.of(
              new Pod(
                  name,
                  Map.of(
                      "app.kubernetes.io/name", name,
                      "app.kubernetes.io/component", "rabbitmq",
                      "app.kubernetes.io/part-of", "rabbitmq"),
                  RABBITMQ_PORTS,
                  object.at("/spec/override/statefulSet/spec/template/spec")));
      default -> Optional.empty();
    };
  }

  /** Whether a LabelSelector selects these pods. */
  boolean isSelectedBy(JsonNode selector) {
    boolean labelled =
        texts(selector.path("matchLabels")).entrySet().stream()
            .allMatch(label -> label.getValue().equals(labels.get(label.getKey())));
    return labelled
        && selector
            .path("matchExpressions")
            .valueStream()
            .allMatch(
                in ->
                    in.path("operator").asString().equals("In")
                        && in.path("values")
                            .valueStream()
                            .anyMatch(
                                value ->
                                    value
                                        .asString()
                                        .equals(labels.get(in.path("key").asString()))));
  }

  static Map<String, String> texts(JsonNode object) {
    Map<String, String> texts = new HashMap<>();
    object
        .propertyStream()
        .forEach(field -> texts.put(field.getKey(), field.getValue().asString()));
    return texts;
  }

  private static Set<String> ports(JsonNode containers) {
    Set<String> ports = new HashSet<>();
    for (JsonNode container : containers) {
      for (JsonNode port : container.path("ports")) {
        ports.add(port.path("name").asString());
        ports.add(port.path("containerPort").asString());
      }
    }
    return ports;
  }
}
